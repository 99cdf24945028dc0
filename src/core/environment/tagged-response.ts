/**
 * The response parser of all environments (Appendix "Prompt and parser adaptations"): an optional closed `<thought>`,
 * then exactly one closed `<action>`, and nothing but white space around them. No action is ever guessed from the
 * remaining text. What is accepted, and what each environment asks beyond that, is the released rule of that
 * environment; `released-parsers.test.ts` compares them.
 */
import { trimWhiteSpace, WHITE_SPACE_CLASS } from "../white-space.ts";
import type { ParsedResponse } from "./rules.ts";

const BLOCKS = new RegExp(
  `^${WHITE_SPACE_CLASS}*(?:<thought>([\\s\\S]*?)</thought>${WHITE_SPACE_CLASS}*)?` +
    `<action>([\\s\\S]*?)</action>${WHITE_SPACE_CLASS}*$`,
);

/**
 * A control tag, or the beginning of one, in any spelling: "< / Action", "<THOUGHT x". Ignoring case, the released rule
 * takes U+0130 and U+0131 for an i, which ECMAScript's own rule does not.
 */
const CONTROL_TAG = new RegExp(
  `<${WHITE_SPACE_CLASS}*/?${WHITE_SPACE_CLASS}*(?:thought|act[i\u0130\u0131]on)(?=${WHITE_SPACE_CLASS}|[>/]|$)`,
  "i",
);

/** Where the environments' rules differ. */
export interface ResponseRule {
  /** Put the action in lower case, as all released rules do. A custom environment's actions may depend on case. */
  lowerCase: boolean;
  /** Refuse a control tag, whole or broken, inside the thought or the action (ScienceWorld). */
  refusesNestedTags: boolean;
  /** Accept an empty action as the answer to `observation`. */
  acceptsBlank(observation: string): boolean;
}

/** ALFWorld's and WebShop's rule: the content of the one action block is the action, and it is never empty. */
export const PLAIN_RULE: ResponseRule = {
  lowerCase: true,
  refusesNestedTags: false,
  acceptsBlank: () => false,
};

/** The parser that follows `rule`. The action comes back trimmed. */
export function responseParser(
  rule: ResponseRule,
): (response: string, observation: string) => ParsedResponse {
  return (response, observation) => {
    const blocks = BLOCKS.exec(response);
    const thought = blocks?.[1] === undefined ? null : trimWhiteSpace(blocks[1]);
    const problem = tagProblem(response) ?? (blocks === null ? shapeProblem(response) : null);
    if (blocks === null || problem !== null) return { action: null, thought, problem };
    const inside = [blocks[1] ?? "", blocks[2]!];
    if (rule.refusesNestedTags && inside.some((text) => CONTROL_TAG.test(text))) {
      return { action: null, thought, problem: "a thought or action tag inside a block" };
    }
    const written = trimWhiteSpace(blocks[2]!);
    const action = rule.lowerCase ? written.toLowerCase() : written;
    if (action === "" && !rule.acceptsBlank(observation)) {
      return { action: null, thought, problem: "an empty action where no menu asks for a blank answer" };
    }
    return { action, thought, problem: null };
  };
}

const THOUGHT = new RegExp(`^${WHITE_SPACE_CLASS}*(?:<thought>[\\s\\S]*?</thought>${WHITE_SPACE_CLASS}*)?`);

/**
 * A response up to its action, `<action>` included: what another action is written behind. Of a malformed response the
 * closed thought at its beginning stays; without one, `<action>` stands alone.
 */
export function beforeAction(response: string): string {
  return `${THOUGHT.exec(response)![0]}<action>`;
}

/** What is wrong with the number of tags; null when nothing is. Only tags in their exact spelling count. */
function tagProblem(response: string): string | null {
  const count = (tag: string) => response.split(tag).length - 1;
  const actions = count("<action>");
  const thoughts = count("<thought>");
  if (actions === 0) return "no <action>…</action> block";
  if (actions > 1) return "more than one <action>";
  if (count("</action>") !== 1) return "<action> is not closed exactly once";
  if (thoughts > 1) return "more than one <thought>";
  if (count("</thought>") !== thoughts) return "<thought> and </thought> do not pair up";
  return null;
}

/** Why a response with the right number of tags has not the right shape. */
function shapeProblem(response: string): string {
  return response.indexOf("</action>") < response.indexOf("<action>") ||
    response.indexOf("</thought>") < response.indexOf("<thought>")
    ? "a block is closed before it is opened"
    : "text outside the blocks";
}
