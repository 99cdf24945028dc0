/** A custom environment's user message: task, history and observation; a template may name lists of its own. */
import type { PromptRules } from "../prompt/rules.ts";
import { readPromptTemplate } from "../prompt/template.ts";
import template from "./prompt.json";

export const CUSTOM_PROMPT: PromptRules = {
  lists: null,
  template: readPromptTemplate(template, null, { file: "custom/prompt.json" }),
};
