/** What is wrong with a form's config in the form's own words: its fields have labels, and hold text that was typed. */
import { type CheckedConfig, CONFIG_FIELDS, readField } from "../runs/config-fields.ts";
import { shortTitleOf } from "../runs/field-control.tsx";

type Problems = CheckedConfig["problems"];

/** All that is typed is a string, and a stage's epochs are called its passes. */
const FORM_WORDS: Problems = {
  "expected number, received string": "expected a number",
  "at least one stage needs an epoch": "at least one stage needs a pass",
};

/** Why a text that should be JSON is none, as the browser says it; null for all other texts and keys. */
function jsonProblem(key: string, text = ""): string | null {
  const field = CONFIG_FIELDS.find((each) => each.key === key);
  // Fields read more than JSON, as a list without its brackets.
  if (field?.kind !== "json" || typeof readField(field, text) !== "string") return null;
  try {
    JSON.parse(text);
    return null;
  } catch (error) {
    return `not valid JSON: ${(error as Error).message}`;
  }
}

/** The problems that a check found, as the form says them. */
export const formProblems = (problems: Problems, texts: Readonly<Record<string, string>>): Problems =>
  Object.fromEntries(
    Object.entries(problems).map(([key, problem]) => [
      key,
      FORM_WORDS[problem] ?? jsonProblem(key, texts[key]) ?? problem,
    ]),
  );

/** The first problem with the label of its field, less what that says in brackets; undefined where there is none. */
export function firstProblem(problems: Problems): string | undefined {
  if (problems[""] !== undefined) return problems[""];
  const [first] = Object.entries(problems);
  return first && `${shortTitleOf(first[0])}: ${first[1]}`;
}
