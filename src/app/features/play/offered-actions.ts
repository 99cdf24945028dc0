/** What an environment offers, as actions that a person can choose. */
import type { EnvironmentTurn, Offered } from "../../../core/ports.ts";
import type { State } from "../../../core/record/schema.ts";

/** Begins an action that only its author can finish: the words that are searched for. */
export const SEARCH = "search[";

/** Stands for an object in ScienceWorld's templates. */
const OBJECT = /\bOBJ\b/;

/**
 * Whole actions, in the environment's order; a search is not listed, since it needs words. ScienceWorld's templates are listed
 * as they are until words are typed, and then with each object in each of their places; the entries of its open menu
 * with their numbers.
 *
 * @param text what is typed
 */
export function offeredActions(
  { offered, state }: Pick<EnvironmentTurn, "offered" | "state">,
  text: string,
): string[] {
  const entries = menuEntries(state);
  if (entries.size > 0) return [...entries.keys()];
  if (offered === null) return [];
  if ("commands" in offered) return [...offered.commands];
  if ("clickables" in offered) return offered.clickables.map((label) => `click[${label}]`);
  const { templates, objects } = offered;
  return text.trim() === "" ? [...templates] : templates.flatMap((template) => filled(template, objects));
}

function filled(template: string, objects: readonly string[]): string[] {
  const [first = "", ...rest] = template.split(OBJECT);
  const names = [...new Set(objects)];
  return rest.reduce(
    (begun, words) => begun.flatMap((start) => names.map((name) => start + name + words)),
    [first],
  );
}

/** How the entries of an open menu are listed, with the numbers that choose them. */
export const menuEntries = (state: State | null): ReadonlyMap<string, string> =>
  new Map(Object.entries(state?.options ?? {}).map(([number, text]) => [`${number}: ${text}`, number]));

/** What a template leaves to be typed on: "move OBJ to OBJ" begins with "move "; null for a whole action. */
export function beginningOf(action: string): string | null {
  return OBJECT.test(action) ? action.split(OBJECT)[0]! : null;
}

/**
 * Those with every word of a text, in any order; all for a search, and for a text that is one of them already, unless
 * there are `many`.
 */
export function filteredActions(actions: readonly string[], text: string, many = false): readonly string[] {
  const wanted = text.trim().toLowerCase();
  if (wanted === "" || wanted.startsWith(SEARCH)) return actions;
  if (!many && actions.includes(text.trim())) return actions;
  const words = wanted.split(/\s+/);
  return actions.filter((action) => words.every((word) => action.toLowerCase().includes(word)));
}

/** Whether words leave one action of a list, given what `filteredActions` found in it. */
export const narrowedToOne = (actions: readonly string[], found: readonly string[]): boolean =>
  found !== actions && found.length === 1;

/** Whether actions are listed by their templates: filled in, they are hundreds or thousands. */
export const isTemplated = (offered: Offered | null): boolean => offered !== null && "templates" in offered;

/** Whether a page can be searched. */
export const hasSearch = (offered: Offered | null): boolean =>
  offered !== null && "searchBar" in offered && offered.searchBar;
