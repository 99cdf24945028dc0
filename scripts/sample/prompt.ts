/**
 * The student's user message for any position of an execution, in the words of the recorded episodes' prompts, so that
 * sources (which were recorded without prompts) can be trained on too.
 */
import type { Episode, Source } from "../../src/core/record/schema.ts";

const HISTORY_PAIRS = 5;

/** The two lines that the environment's interface supplies; taken over from a recorded prompt of the same task. */
export interface InterfaceLines {
  forms: string;
  objects: string;
}

/** Reads the interface lines out of a recorded prompt. */
export function interfaceLines(prompt: string): InterfaceLines {
  const forms = /^Command forms: (.*)$/m.exec(prompt)?.[1];
  const objects = /^Objects you can name: (.*)$/m.exec(prompt)?.[1];
  if (forms === undefined || objects === undefined)
    throw new Error("a recorded prompt without its interface lines");
  return { forms, objects };
}

/** The prompt before decision t of an execution. */
export function promptAt(record: Source | Episode, t: number, lines: InterfaceLines): string {
  const from = Math.max(0, t - HISTORY_PAIRS);
  const history = record.decisions.slice(from, t).map((decision, i) => {
    const done = decision.action ?? "(unreadable reply, nothing done)";
    return `(${from + i + 1}) saw: ${decision.observation}\n    did: ${done}`;
  });
  const last = record.decisions[t - 1];
  const now = record.decisions[t]?.observation ?? last?.feedback ?? record.initial_observation;
  return [
    "You are an agent in a text world of science tasks.",
    `Task: ${record.task_description}`,
    ...(t === 0
      ? []
      : [
          `You have made ${t} decision(s) so far. The last ${history.length}, each with what you saw before it:`,
          ...history,
        ]),
    `Decision ${t + 1}. You now see: ${now}`,
    `Command forms: ${lines.forms}`,
    `Objects you can name: ${lines.objects}`,
    "Think first inside <thought></thought>, then give exactly one command inside <action></action>.",
  ].join("\n");
}
