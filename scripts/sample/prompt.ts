/**
 * The student's user message for any position of an execution, so that sources (which were recorded without prompts)
 * can be trained on too.
 */
import { environmentRules, studentPrompt } from "../../src/core/environment/index.ts";
import type { Episode, Source } from "../../src/core/record/schema.ts";

/** The two lists that the environment's interface supplies; taken over from a recorded prompt of the same task. */
export interface InterfaceLines {
  forms: string;
  objects: string;
}

/** Reads the interface lists out of a recorded prompt. */
export function interfaceLines(prompt: string): InterfaceLines {
  const forms = /^Command forms: (.*)$/m.exec(prompt)?.[1];
  const objects = /^Objects you can name: (.*)$/m.exec(prompt)?.[1];
  if (forms === undefined || objects === undefined) {
    throw new Error("a recorded prompt without its interface lines");
  }
  return { forms, objects };
}

/** The prompt before decision t of an execution. */
export function promptAt(record: Source | Episode, t: number, lines: InterfaceLines): string {
  const observation =
    record.decisions[t]?.observation ?? record.decisions[t - 1]?.feedback ?? record.initial_observation;
  return studentPrompt(environmentRules("scienceworld"), {
    task: record.task_description,
    observation,
    history: record.decisions.slice(0, t),
    lists: { action_templates: lines.forms.split("; "), objects: lines.objects.split("; ") },
  });
}
