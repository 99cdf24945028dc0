/** Where one comes to on another library: the same task where both have it, else where that library was left. */

import { HOME, type Place } from "../url/place.ts";
import { controlsOf } from "../url/what-if.ts";
import type { LibrarySummary, TaskName } from "./model.ts";

/** The task that a place names; null when the library has none with that name. */
export function taskAt<T extends TaskName>(
  { tasks }: { tasks: readonly T[] },
  { task, environment }: Pick<Place, "task" | "environment">,
): T | null {
  return (
    tasks.find((each) => each.task === task && (environment === null || each.environment === environment)) ??
    null
  );
}

/**
 * The place on another open library. The view, the controls of the method and how things are drawn are taken along, so
 * that two libraries are compared under the same ones. Filter and order of its tasks, and what was looked at, are its own.
 */
export function placeOn(
  { link, tasks }: Pick<LibrarySummary, "link" | "tasks">,
  from: Place,
  left: Place | null,
): Place {
  const { view, sides, compare, signal, run, charted, runsSort, runsGroup, runsTags, axis, endOfTurn } = from;
  const along = {
    view,
    sides,
    compare,
    signal,
    run,
    charted,
    runsSort,
    runsGroup,
    runsTags,
    axis,
    endOfTurn,
    ...controlsOf(from),
  };
  const own = left ?? HOME;
  const same = from.task === null ? null : taskAt({ tasks }, from);
  const stays =
    same === null || (same.task === own.task && same.environment === (own.environment ?? same.environment));
  const { filter, show, sort, descending } = own;
  const there = stays
    ? own
    : { ...HOME, filter, show, sort, descending, task: same.task, environment: from.environment };
  return { ...there, ...along, ...link };
}
