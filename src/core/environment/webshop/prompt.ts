/** WebShop's user message: the page supplies its search bar and buttons. */
import type { PromptRules } from "../prompt/rules.ts";
import { readPromptTemplate } from "../prompt/template.ts";
import template from "./prompt.json";

const LISTS = ["available_actions"];

export const WEBSHOP_PROMPT: PromptRules = {
  lists: LISTS,
  template: readPromptTemplate(template, LISTS, { file: "webshop/prompt.json" }),
};

/** What a page offers, as the text environment reports it. */
export interface PageActions {
  has_search_bar: boolean;
  clickables: readonly string[];
}

/** The page's actions as prompts list them. The search button is not among them: a search is one action. */
export function availableActions({ has_search_bar, clickables }: PageActions): string[] {
  const clicks = clickables.filter((name) => !(has_search_bar && name.toLowerCase() === "search"));
  return [...(has_search_bar ? ["search[<keywords>]"] : []), ...clicks.map((name) => `click[${name}]`)];
}
