/**
 * The open libraries: which one a place names, and what is kept of those that are not shown. Kept of each are its list of
 * tasks, the counted columns and the place where it was left; its tasks, graphs and decisions are read again when it is
 * shown. Everything else that is kept by task (scores, decisions) has the library's id in its key.
 */

import { countOf } from "../../core/plural.ts";
import type { PathFile } from "../base/dropped-files.ts";
import { shownName } from "../base/text/shown-text.ts";
import { linkKey, opensByItself } from "../url/library-link.ts";
import type { Place } from "../url/place.ts";
import { withBatch } from "./library/task-columns.ts";
import type { ColumnBatch, LibrarySummary, TaskColumns } from "./model.ts";

export interface OpenLibrary {
  summary: LibrarySummary;
  /** Counted so far: another object with every batch. */
  columns: TaskColumns;
  /**
   * What it was imported from, files or paths of the worker's disk, and the environment that was said for it, to be able
   * to say another.
   */
  imported: { from: PathFile[] | string[]; environment: string | null } | null;
  /** Where it was left; null while it is shown for the first time. */
  left: Place | null;
}

interface Libraries {
  libraries: readonly OpenLibrary[];
  library: LibrarySummary | null;
}

/** The open library with that id. */
export function libraryOf(libraries: readonly OpenLibrary[], id: string): OpenLibrary | null {
  return libraries.find(({ summary }) => summary.id === id) ?? null;
}

/** The shown one. */
export function shownLibrary({ libraries, library }: Libraries): OpenLibrary | null {
  return library === null ? null : libraryOf(libraries, library.id);
}

/** The columns of the shown one. */
export const shownColumns = (ui: Libraries): TaskColumns | null => shownLibrary(ui)?.columns ?? null;

/**
 * The open library that a place names; null where it is not open. A place that names none, and one that says `own`
 * without saying which, leave the shown one.
 */
export function libraryAt({ libraries, library }: Libraries, place: Place): LibrarySummary | null {
  const all = libraries.map(({ summary }) => summary);
  const shown = all.find((each) => each === library) ?? null;
  if (place.library === null && !opensByItself(place)) return shown ?? all.at(-1) ?? null;
  if (place.library === "own" && !opensByItself(place)) {
    const given = all.filter(({ link }) => link.library?.startsWith("own-") === true);
    return given.find((each) => each === shown) ?? given.at(-1) ?? null;
  }
  const key = linkKey(place);
  return all.find(({ link }) => linkKey(link) === key) ?? null;
}

/** A place with the library that it names. Of the one that was shown before, nothing stays but where it was left. */
export function showing(ui: Libraries & { place: Place }, place: Place) {
  const library = libraryAt(ui, place);
  if (library === ui.library) return { place };
  const { id } = ui.library ?? { id: null };
  return {
    place,
    library,
    libraries: ui.libraries.map((each) => (each.summary.id === id ? { ...each, left: ui.place } : each)),
    task: null,
    decision: null,
    viewProblem: null,
    hoveredState: null,
  };
}

/** Newly counted columns of one of them; of one that is closed they are left. */
export function counted(libraries: readonly OpenLibrary[], id: string, batch: ColumnBatch): OpenLibrary[] {
  return libraries.map((each) =>
    each.summary.id === id ? { ...each, columns: withBatch(each.columns, batch) } : each,
  );
}

/** The one `by` further on, around the end; null where there is no other. */
export function libraryFurther({ libraries, library }: Libraries, by: 1 | -1): OpenLibrary | null {
  const at = libraries.findIndex(({ summary }) => summary.id === library?.id);
  if (libraries.length === 0 || (at >= 0 && libraries.length === 1)) return null;
  const from = at < 0 && by < 0 ? 0 : at;
  return libraries[(from + by + libraries.length) % libraries.length]!;
}

/**
 * What each is called: its title; where several have the same, with its environments and number of tasks; and where these
 * are the same too, with a number.
 */
export function libraryNames(libraries: readonly OpenLibrary[]): Map<string, string> {
  const titles = libraries.map(({ summary }) => summary.title);
  const seen = new Map<string, number>();
  return new Map(
    libraries.map(({ summary }) => {
      const { id, title, tasks } = summary;
      const alone = titles.indexOf(title) === titles.lastIndexOf(title);
      const name = alone ? shownName(title) : `${shownName(title)} · ${contents(tasks)}`;
      const n = (seen.get(name) ?? 0) + 1;
      seen.set(name, n);
      return [id, n === 1 ? name : `${name} (${n})`];
    }),
  );
}

/** `alfworld and webshop, 12 tasks`. */
function contents(tasks: LibrarySummary["tasks"]): string {
  const environments = [...new Set(tasks.map(({ environment }) => shownName(environment, 40)))];
  return `${environments.join(" and ")}, ${countOf(tasks.length, "task")}`;
}
