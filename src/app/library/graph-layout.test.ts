import { expect, it } from "vitest";
import { fastest } from "../../../test/support/fastest.ts";
import { costColumns, layoutColumns } from "./graph-layout.ts";

it("orders a column by its neighbours, so that parallel paths do not cross", () => {
  // 0 → 3 → 5 and 1 → 2 → 4, with the middle column listed the wrong way round.
  const { row } = layoutColumns(
    [0, 0, 1, 1, 2, 2],
    [
      { from: 0, to: 3 },
      { from: 1, to: 2 },
      { from: 3, to: 5 },
      { from: 2, to: 4 },
    ],
  );
  expect(Math.sign(row[0]! - row[1]!)).toBe(Math.sign(row[3]! - row[2]!));
  expect(Math.sign(row[3]! - row[2]!)).toBe(Math.sign(row[5]! - row[4]!));
});

it("takes empty columns, self-loops and no state at all", () => {
  expect(layoutColumns([], [])).toEqual({ column: [], row: [], columns: 0, rows: 1, lead: 0 });
  const { columns, rows, row } = layoutColumns([0, 5], [{ from: 1, to: 1 }]);
  expect([columns, rows, row]).toEqual([6, 1, [0, 0]]);
});

it("takes time by the square of a graph at most", () => {
  const layout = (states: number) => {
    const column = Array.from({ length: states }, (_, i) => i % 40);
    const edges = Array.from({ length: 2 * states }, (_, i) => ({
      from: i % states,
      to: (i * 7 + 1) % states,
    }));
    return fastest(() => layoutColumns(column, edges));
  };
  // Four times the states: 16 by the square, 64 by the cube.
  expect(layout(500) / layout(125)).toBeLessThan(40);
});

it("spreads states without a success over leading columns, by step", () => {
  const states = Array.from({ length: 40 }, (_, i) => ({ cost: null, step: 40 - i }));
  const { column, lead } = costColumns([{ cost: 0, step: 3 }, { cost: 2, step: 0 }, ...states]);
  expect(lead).toBe(5);
  expect(column.slice(0, 2)).toEqual([7, 5]);
  const spread = column.slice(2);
  expect(Math.max(...spread)).toBe(4);
  expect(spread).toEqual([...spread].sort((a, b) => b - a));
  expect(costColumns([])).toEqual({ column: [], lead: 0 });
});
