import type { ChatTurn, EnvironmentTurn } from "../../ports.ts";
import type { Protocol } from "../protocol.ts";
import type { EnvironmentRules } from "../rules.ts";
import type { DecisionPrompt } from "./chat.ts";
import { offeredLists } from "./offered-lists.ts";
import { studentPrompt } from "./student-prompt.ts";
import type { PromptTemplate } from "./template.ts";

/** A decision that was made, as prompts repeat it. */
export interface PastDecision {
  observation: string;
  /** Null for a malformed response. */
  action: string | null;
  /** The user message that it answered; a chat repeats it. */
  prompt?: string;
}

/**
 * What the model reads before it decides in a live environment.
 *
 * @param description the task's instruction
 * @param template in place of the environment's own
 * @throws InputError when the template names a list that the environment does not offer
 */
export function decisionPrompt(
  rules: Pick<EnvironmentRules, "limits" | "prompt">,
  protocol: Pick<Protocol, "history" | "form">,
  description: string,
  { observation, offered }: Pick<EnvironmentTurn, "observation" | "offered">,
  history: readonly PastDecision[],
  template: PromptTemplate = rules.prompt.template,
): DecisionPrompt {
  const input = { task: description, observation, history, lists: offeredLists(offered) };
  const message = studentPrompt(rules, input, template, protocol.history);
  const earlier =
    protocol.form === "message"
      ? []
      : history.flatMap(({ prompt = "", action }): ChatTurn[] => [
          { role: "user", content: prompt },
          { role: "assistant", content: `<action>${action ?? ""}</action>` },
        ]);
  return { message, earlier };
}
