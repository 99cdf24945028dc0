/** The few figures by which libraries are set beside each other. */
import type { LibrarySummary, TaskColumns } from "../../../data/model.ts";

export interface Headline {
  /** Recorded executions. */
  sources: number;
  /** Those with `outcome.success`. */
  successes: number;
  episodes: number;
  won: number;
  /** Decisions of all episodes. */
  decisions: number;
  /** Those with at least one matched visit; null until every task is counted. */
  matched: number | null;
}

type Totals = Omit<Headline, "matched">;

const known = new WeakMap<LibrarySummary, Totals>();

function totals(library: LibrarySummary): Totals {
  let found = known.get(library);
  if (found === undefined) {
    found = { sources: 0, successes: 0, episodes: 0, won: 0, decisions: 0 };
    for (const task of library.tasks) {
      found.sources += task.sources;
      found.successes += task.successes;
      found.episodes += task.episodes;
      found.won += task.episodesWon;
      found.decisions += task.decisions;
    }
    known.set(library, found);
  }
  return found;
}

/** A task that cannot be read leaves the share unknown too. */
export function headline(library: LibrarySummary, { counted, matched }: TaskColumns): Headline {
  const whole = counted >= library.tasks.length && matched.every((count) => count >= 0);
  return { ...totals(library), matched: whole ? matched.reduce((sum, count) => sum + count, 0) : null };
}
