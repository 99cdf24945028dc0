/** What an environment offers, as actions that a person can choose. */
import type { Offered } from "../../../core/ports.ts";

/** Begins an action that only its author can finish: the words that are searched for. */
export const SEARCH = "search[";

/** Whole actions, in the environment's order; a search is none, since it needs words. */
export function offeredActions(offered: Offered | null): string[] {
  if (offered === null) return [];
  if ("commands" in offered) return [...offered.commands];
  return "clickables" in offered ? offered.clickables.map((label) => `click[${label}]`) : [];
}

/** Those with every word of a text, in any order; all for a text that is one of them already, and for a search. */
export function filteredActions(actions: readonly string[], text: string): readonly string[] {
  const wanted = text.trim().toLowerCase();
  if (wanted === "" || wanted.startsWith(SEARCH) || actions.includes(text.trim())) return actions;
  const words = wanted.split(/\s+/);
  return actions.filter((action) => words.every((word) => action.toLowerCase().includes(word)));
}

/** Whether a page can be searched. */
export const hasSearch = (offered: Offered | null): boolean =>
  offered !== null && "searchBar" in offered && offered.searchBar;
