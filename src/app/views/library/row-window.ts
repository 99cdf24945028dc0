/**
 * Which rows of a long list are drawn, and where: rows are of one height. Browsers draw no element higher than some
 * 16 to 33 million pixels; a list that would be higher is scrolled through faster than it is drawn.
 */

/** No element is made higher than this, in CSS pixels. */
export const MOST_HEIGHT = 8_000_000;

export interface RowWindow {
  /** The first row drawn, and the one after the last. */
  first: number;
  end: number;
  /** Pixels to leave free before the first row and after the last. */
  before: number;
  after: number;
}

export interface Scrolled {
  /** How far the body of the list is scrolled, and how much of it is seen, in CSS pixels. */
  top: number;
  height: number;
}

/** The rows in sight and `overscan` more on both sides. All heights in CSS pixels. */
export function rowWindow(
  rows: number,
  rowHeight: number,
  { top, height }: Scrolled,
  overscan = 8,
): RowWindow {
  const whole = rows * rowHeight;
  const drawn = Math.min(whole, MOST_HEIGHT);
  const farthest = Math.max(0, drawn - height);
  const at = Math.min(Math.max(0, top), farthest);
  // Where `at` lies in a list of full height: its beginning and its end are reached at the same time.
  const real = farthest === 0 ? 0 : at * (Math.max(0, whole - height) / farthest);
  const first = Math.max(0, Math.floor(real / rowHeight) - overscan);
  const end = Math.min(rows, Math.ceil((real + height) / rowHeight) + overscan);
  const wanted = whole === drawn ? first * rowHeight : at - (real - first * rowHeight);
  const before = Math.max(0, wanted);
  return { first, end, before, after: Math.max(0, drawn - before - (end - first) * rowHeight) };
}
