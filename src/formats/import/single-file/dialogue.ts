/** Turns from a dialogue between an environment and an agent. */
import type { Turn } from "./execution.ts";

export interface Message {
  side: "environment" | "agent";
  text: string;
  /** The action, where the format gives it beside the text (tool calls). */
  action?: string | null;
}

const OBSERVATION = /^Observation:(?: |(?=\n)|$)/;

function observed(text: string): string {
  return text.replace(OBSERVATION, "");
}

/**
 * Each agent message is a decision; what the environment says before it is the observation, and what it says next the
 * feedback (`""` at the end). Messages of the environment that follow each other are one, a line feed between. Two
 * agent messages without an answer between them leave a gap.
 */
export function turnsOf(
  messages: readonly Message[],
  read: (reply: string, observation: string) => string | null,
): { initial: string; turns: Turn[] } {
  const turns: Turn[] = [];
  let said: string[] = [];
  let initial: string | undefined;
  for (const message of messages) {
    if (message.side === "environment") {
      said.push(observed(message.text));
      continue;
    }
    const observation = said.join("\n");
    initial ??= observation;
    const last = turns.at(-1);
    if (last !== undefined) last.feedback = observation;
    const action = message.action !== undefined ? message.action : read(message.text, observation);
    turns.push({
      observation,
      action,
      feedback: "",
      ...(last !== undefined && said.length === 0 ? { gap: true } : {}),
    });
    said = [];
  }
  const last = turns.at(-1);
  if (last !== undefined) last.feedback = said.join("\n");
  return { initial: initial ?? said.join("\n"), turns };
}
