/** ALFWorld's user message: the engine supplies the commands that it admits now. */
import type { PromptRules } from "../prompt/rules.ts";
import { readPromptTemplate } from "../prompt/template.ts";
import template from "./prompt.json";

const LISTS = ["admissible_commands"];

export const ALFWORLD_PROMPT: PromptRules = {
  lists: LISTS,
  template: readPromptTemplate(template, LISTS, { file: "alfworld/prompt.json" }),
};

/** The admissible commands as prompts list them: all but `help`, which does nothing for a task. */
export function promptCommands(admissible: readonly string[]): string[] {
  return admissible.filter((command) => command !== "help");
}

const TASK = /\s*\bYour task is to:?[ \t]*([^\n]*)/;

/**
 * A reset text in two: the first observation, which is the text without its task sentence, and the task. `task` is null
 * where no sentence says it, and then the whole text is the observation.
 */
export function splitResetText(text: string): { observation: string; task: string | null } {
  const match = TASK.exec(text);
  if (match === null) return { observation: text, task: null };
  return {
    observation: text.slice(0, match.index) + text.slice(match.index + match[0].length),
    task: match[1]!.trim(),
  };
}
