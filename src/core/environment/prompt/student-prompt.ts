/**
 * The student's user message (Appendix "Agent inputs and evaluation"): rebuilt for each decision from the task, the
 * current observation, the last observation–action pairs, and what the environment's interface supplies. Earlier
 * replies and thoughts are never part of it.
 */
import { InputError } from "../../errors.ts";
import type { Protocol } from "../protocol.ts";
import type { EnvironmentRules } from "../rules.ts";
import { fill, type PromptTemplate } from "./template.ts";

/** What a message is made of. */
export interface PromptInput {
  task: string;
  /** What the agent sees now. */
  observation: string;
  /** Every earlier decision: what was seen before it, and its action (null for a malformed response). */
  history: readonly { observation: string; action: string | null }[];
  /** The environment's lists by name: action templates and object names, or the commands that it admits now. */
  lists: Readonly<Record<string, readonly string[]>>;
}

/**
 * h_t as text. Only the last pairs are repeated, with their numbers: by default `limits.historyPairs`. White space at the end of an
 * observation is left out, so that a message looks the same whether or not an environment ends its texts with a line
 * break.
 *
 * @throws InputError when a list is missing that the template names
 */
export function studentPrompt(
  rules: Pick<EnvironmentRules, "limits" | "prompt">,
  input: PromptInput,
  template: PromptTemplate = rules.prompt.template,
  repeated: Protocol["history"] = { pairs: rules.limits.historyPairs, from: 1 },
): string {
  const decided = input.history.length;
  const shown = input.history.slice(Math.max(0, decided - repeated.pairs));
  const pairs = shown.map(({ observation, action }, i) =>
    fill(template.pair, {
      number: String(decided - shown.length + i + 1),
      observation: observation.trimEnd(),
      action: action ?? template.unreadableAction,
    }),
  );
  const values: Record<string, string> = {
    task: input.task,
    observation: input.observation.trimEnd(),
    decision: String(decided + 1),
    history:
      decided < repeated.from
        ? ""
        : fill(template.history, {
            pairs: pairs.join("\n"),
            decisions_made: String(decided),
            pairs_shown: String(shown.length),
          }),
  };
  for (const [name, separator] of template.lists) {
    const list = input.lists[name];
    if (list === undefined) {
      throw new InputError("missing; the prompt template names this list", { key: `lists.${name}` });
    }
    values[name] = list.join(separator);
  }
  return fill(template.message, values);
}
