/**
 * Which rows of a long list are drawn, and where. Browsers draw no element higher than some 16 to 33 million pixels; a
 * list that would be higher is scrolled through faster than it is drawn.
 */
import { bisectRight } from "d3";

/** No element is made higher than this, in CSS pixels. */
export const MOST_HEIGHT = 8_000_000;

/** Where rows lie in a list of full height, in CSS pixels. */
export interface RowHeights {
  rows: number;
  /** Where a row begins, 0 ≤ row ≤ rows; of `rows` itself the end of the list. */
  top(row: number): number;
  /** The row at a height, for heights below the end of the list. */
  at(height: number): number;
}

/** Rows of one height. */
export const evenRows = (rows: number, height: number): RowHeights => ({
  rows,
  top: (row) => row * height,
  at: (y) => Math.floor(y / height),
});

/** Rows that each have their own height, all above 0. */
export function unevenRows(heights: readonly number[]): RowHeights {
  const tops = new Float64Array(heights.length + 1);
  for (const [row, height] of heights.entries()) tops[row + 1] = tops[row]! + height;
  return {
    rows: heights.length,
    top: (row) => tops[row]!,
    at: (y) => Math.max(0, bisectRight(tops, y) - 1),
  };
}

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

/** The rows in sight and `overscan` more on both sides. */
export function rowWindow(list: RowHeights, { top, height }: Scrolled, overscan = 8): RowWindow {
  const { rows } = list;
  const whole = list.top(rows);
  const drawn = Math.min(whole, MOST_HEIGHT);
  const farthest = Math.max(0, drawn - height);
  const at = Math.min(Math.max(0, top), farthest);
  // Where `at` lies in a list of full height: its beginning and its end are reached at the same time.
  const real = farthest === 0 ? 0 : at * (Math.max(0, whole - height) / farthest);
  const bottom = real + height;
  const last = bottom >= whole ? rows : list.at(bottom) + (list.top(list.at(bottom)) < bottom ? 1 : 0);
  const first = rows === 0 ? 0 : Math.max(0, Math.min(rows - 1, list.at(real)) - overscan);
  const end = Math.min(rows, last + overscan);
  const wanted = whole === drawn ? list.top(first) : at - (real - list.top(first));
  const before = Math.max(0, wanted);
  return { first, end, before, after: Math.max(0, drawn - before - (list.top(end) - list.top(first))) };
}
