/** ScienceWorld's user message: the interface supplies action templates and the names of visible objects. */
import type { PromptRules } from "../prompt/rules.ts";
import { readPromptTemplate } from "../prompt/template.ts";
import template from "./prompt.json";

const LISTS = ["action_templates", "objects"];

export const SCIENCEWORLD_PROMPT: PromptRules = {
  lists: LISTS,
  template: readPromptTemplate(template, LISTS, { file: "scienceworld/prompt.json" }),
};
