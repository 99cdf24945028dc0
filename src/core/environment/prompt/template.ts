/**
 * Prompt templates as data: the words of a student's user message, with `{placeholders}` for what the environment and
 * the execution supply. `{{` and `}}` stand for braces. A template is checked whole when it is read.
 */
import { z } from "zod";
import { InputError } from "../../errors.ts";
import { checkedBy } from "../../record/describe-issue.ts";

/** Text, and names of placeholders. */
type Part = { text: string } | { name: string };

/** A checked template. */
export interface PromptTemplate {
  message: readonly Part[];
  /** Stands for `{history}` from the second decision on. */
  history: readonly Part[];
  /** One observation–action pair of `{pairs}`. */
  pair: readonly Part[];
  /** Stands for `{action}` of a malformed response. */
  unreadableAction: string;
  /** What a malformed response is answered with: the agent's next observation. */
  malformedFeedback: string;
  /** What stands between the entries of each list that the environment supplies. */
  lists: ReadonlyMap<string, string>;
}

/** Lines of a template; one string is one line or more. */
const text = z.union([z.string(), z.array(z.string())]);

/** Where a template has no words of its own. */
const MALFORMED_FEEDBACK =
  "The reply could not be read: it needs an optional <thought>...</thought> and then exactly one <action>...</action>. " +
  "This decision was counted and nothing was done.";

const fileSchema = z.strictObject({
  format: z.literal("gcopd.prompt.v1"),
  message: text,
  history: text,
  pair: text,
  unreadable_action: z.string(),
  malformed_feedback: z.string().min(1).default(MALFORMED_FEEDBACK),
  lists: z.record(z.string(), z.string()),
});

const MESSAGE = { required: ["task", "observation", "history"], optional: ["decision"] };
const HISTORY = { required: ["pairs"], optional: ["decisions_made", "pairs_shown"] };
const PAIR = { required: ["observation", "action"], optional: ["number"] };

/**
 * Reads a template from parsed JSON.
 *
 * @param lists the lists that the environment supplies; null where the template names them
 * @throws InputError that names the key: a placeholder that is unknown, missing or not closed, or an unknown list
 */
export function readPromptTemplate(
  value: unknown,
  lists: readonly string[] | null,
  where: { file?: string } = {},
): PromptTemplate {
  const file = checkedBy(fileSchema, value, where);
  const own = Object.keys(file.lists);
  for (const name of own) {
    if (lists !== null && !lists.includes(name)) {
      const known = lists.length === 0 ? "none" : lists.join(" or ");
      throw new InputError(`the environment supplies no list with this name; expected ${known}`, {
        ...where,
        key: `lists.${name}`,
      });
    }
  }
  const part = (key: "message" | "history" | "pair", known: typeof MESSAGE): Part[] => {
    const lines = file[key];
    return compile(typeof lines === "string" ? lines : lines.join("\n"), known, { ...where, key });
  };
  return {
    message: part("message", { ...MESSAGE, optional: [...MESSAGE.optional, ...own] }),
    history: part("history", HISTORY),
    pair: part("pair", PAIR),
    unreadableAction: file.unreadable_action,
    malformedFeedback: file.malformed_feedback,
    lists: new Map(Object.entries(file.lists)),
  };
}

function compile(
  source: string,
  { required, optional }: typeof MESSAGE,
  where: { file?: string; key: string },
): Part[] {
  const known = [...required, ...optional];
  const parts: Part[] = [];
  for (const [token] of source.matchAll(/\{\{|\}\}|\{[^{}]*\}|[{}]|[^{}]+/g)) {
    if (token === "{" || token === "}") {
      throw new InputError(
        `a single ${JSON.stringify(token)}; write ${token}${token} for the brace itself`,
        where,
      );
    }
    if (token === "{{" || token === "}}") parts.push({ text: token[0]! });
    else if (token.startsWith("{")) {
      const name = token.slice(1, -1);
      if (!known.includes(name)) {
        throw new InputError(
          `unknown placeholder ${token}; expected ${known.map((one) => `{${one}}`).join(", ")}`,
          where,
        );
      }
      parts.push({ name });
    } else parts.push({ text: token });
  }
  for (const name of required) {
    if (!parts.some((part) => "name" in part && part.name === name)) {
      throw new InputError(`the placeholder {${name}} is missing`, where);
    }
  }
  return parts;
}

/** Fills a part in one pass: what is filled in is never read for placeholders again. */
export function fill(parts: readonly Part[], values: Readonly<Record<string, string>>): string {
  return parts.map((part) => ("text" in part ? part.text : values[part.name]!)).join("");
}
