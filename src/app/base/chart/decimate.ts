/** Fewer points for the same picture: of a curve with many more points than pixels only what can be seen is drawn. */

export interface XY {
  x: number;
  y: number;
}

/**
 * Of each pixel column the first, the last, the lowest and the highest point, in their order: lines between them cover
 * the same pixels as lines between all. A curve of at most four points a column is left as it is.
 *
 * @param points by rising x
 * @param column of a point, in pixels
 */
export function decimate(
  points: readonly XY[],
  columns: number,
  column: (x: number) => number,
): readonly XY[] {
  if (points.length <= 4 * columns) return points;
  const kept: XY[] = [];
  let from = 0;
  while (from < points.length) {
    const present = Math.floor(column(points[from]!.x));
    let [low, high, to] = [from, from, from];
    while (to < points.length && Math.floor(column(points[to]!.x)) === present) {
      if (points[to]!.y < points[low]!.y) low = to;
      if (points[to]!.y > points[high]!.y) high = to;
      to += 1;
    }
    for (const at of [...new Set([from, low, high, to - 1])].sort((a, b) => a - b)) kept.push(points[at]!);
    from = to;
  }
  return kept;
}
