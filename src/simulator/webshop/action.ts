/** WebShop's actions: `search[...]` and `click[...]`. */
import type { PageActions } from "../../core/environment/webshop/prompt.ts";

/** The last bracket ends the argument; what follows it does not count. */
const ACTION = /^([^\n]+)\[([^\n]+)\]/;

export interface ShopAction {
  kind: "search" | "click";
  /** In lower case, as pages read it. */
  argument: string;
}

/**
 * The action as a page takes it: a search on every page, a click on what the page offers. Null for any other text, which
 * leaves the page as it is.
 */
export function offeredAction(
  action: string,
  { has_search_bar, clickables }: PageActions,
): ShopAction | null {
  const [, kind, given] = ACTION.exec(action) ?? [];
  const argument = given?.toLowerCase();
  if (argument === undefined) return null;
  if (kind === "search") return { kind, argument };
  // The search bar's button does nothing by itself.
  const inert = has_search_bar && argument === "search";
  return kind === "click" && !inert && clickables.includes(argument) ? { kind, argument } : null;
}
