/** Trusted-success coverage by source budget K (Figure "Source budget and student performance", (a)). */
import { environmentRules } from "../environment/environment.ts";
import type { Source } from "../record/schema.ts";
import { isTrustedSuccess } from "../record/standing.ts";
import { admittedSources } from "../retrieval/admission.ts";
import { isAugmentation, SOURCE_BUDGETS } from "../retrieval/selection.ts";

/** How many tasks have a trusted successful record among those of a budget. */
export interface CoverageRow {
  /** K; null for all sampled records. */
  sourcesPerTask: number | null;
  /** Tasks covered by the sampled records alone. */
  covered: number;
  /** Tasks covered when planner and oracle records are added. */
  coveredAugmented: number;
}

/** Counts one task at a time. */
export class CoverageCounter {
  readonly #rows: CoverageRow[];

  constructor(budgets: readonly number[] = SOURCE_BUDGETS) {
    this.#rows = [...budgets, null].map((sourcesPerTask) => ({
      sourcesPerTask,
      covered: 0,
      coveredAugmented: 0,
    }));
  }

  /**
   * All records of one task, whatever the selection of the other figures is. Those that the environment's library does
   * not hold cover nothing.
   */
  add(environment: string, sources: readonly Source[]): void {
    const successes = admittedSources(sources, environmentRules(environment)).filter(isTrustedSuccess);
    const sampled = successes.filter((source) => !isAugmentation(source));
    const first = sampled.reduce((least, { repetition }) => Math.min(least, repetition), Infinity);
    const added = sampled.length < successes.length;
    for (const row of this.#rows) {
      const covered = row.sourcesPerTask === null ? sampled.length > 0 : first < row.sourcesPerTask;
      if (covered) row.covered++;
      if (covered || added) row.coveredAugmented++;
    }
  }

  rows(): CoverageRow[] {
    return this.#rows.map((row) => ({ ...row }));
  }
}
