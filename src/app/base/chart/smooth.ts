/** A curve without its noise: what a plain moving mean leaves. */
import type { XY } from "./decimate.ts";

/**
 * Each point as the mean of the points at most half of `window` steps before or after it; fewer at the ends, where the
 * curve has no others. A window of 1 leaves the curve as it is.
 *
 * @param points by rising x
 */
export function smooth<T extends XY>(points: readonly T[], window: number): readonly T[] {
  if (window <= 1) return points;
  const half = window / 2;
  let [from, to, sum] = [0, 0, 0];
  return points.map((point) => {
    while (to < points.length && points[to]!.x <= point.x + half) {
      sum += points[to]!.y;
      to += 1;
    }
    while (points[from]!.x < point.x - half) {
      sum -= points[from]!.y;
      from += 1;
    }
    return { ...point, y: sum / (to - from) };
  });
}
