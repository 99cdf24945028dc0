import type { EvaluationResults } from "./metrics.ts";

/** What students are chosen by. */
export type Ranked = Pick<EvaluationResults, "sr" | "score" | "tasks">;

/**
 * The best of some evaluations of one student on the same tasks: the highest success rate, then the highest score; of
 * equal ones the first. One that had to leave out more tasks than another is not chosen: its figures may be higher for that
 * alone.
 */
export function bestEvaluated<T extends Ranked>(evaluated: readonly T[]): T | null {
  const most = Math.max(...evaluated.map(({ tasks }) => tasks));
  const above = (a: Ranked, b: Ranked): boolean =>
    a.sr.mean === b.sr.mean ? (a.score?.mean ?? 0) > (b.score?.mean ?? 0) : a.sr.mean > b.sr.mean;
  return evaluated
    .filter(({ tasks }) => tasks === most)
    .reduce<T | null>((best, each) => (best === null || above(each, best) ? each : best), null);
}
