import type { EvaluationResults } from "./metrics.ts";

/** What students are chosen by. */
export type Ranked = Pick<EvaluationResults, "sr" | "score">;

/**
 * The best of some evaluations of one student on the same tasks: the highest success rate, then the highest score; of
 * equal ones the first.
 */
export function bestEvaluated<T extends Ranked>(evaluated: readonly T[]): T | null {
  const above = (a: Ranked, b: Ranked): boolean =>
    a.sr.mean === b.sr.mean ? (a.score?.mean ?? 0) > (b.score?.mean ?? 0) : a.sr.mean > b.sr.mean;
  return evaluated.reduce<T | null>((best, each) => (best === null || above(each, best) ? each : best), null);
}
