/** From a query to the lines that are shown. */
import type { UiState } from "../../compute/store.ts";
import { type Entry, paletteEntries } from "./entries.ts";
import { recentFirst } from "./recent.ts";
import { search } from "./search.ts";

/** More lines than this nobody reads; how many more there are is said. */
const MOST_LINES = 50;

/** What cannot be done now is behind what is found elsewhere in the words. */
const BLOCKED = 2.5;

export interface Finds {
  lines: Entry[];
  /** Finds in all. */
  total: number;
}

export function find(ui: UiState, query: string): Finds {
  const entries = paletteEntries(ui, query);
  const found =
    query.trim() === ""
      ? recentFirst(entries)
      : search(
          query,
          entries.map((each) => each.search),
          (index) => (entries[index]!.blocked ? BLOCKED : 0),
        ).map((index) => entries[index]!);
  return { lines: found.slice(0, MOST_LINES), total: found.length };
}
