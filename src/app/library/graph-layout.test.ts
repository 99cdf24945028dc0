import { expect, it } from "vitest";
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

it("lays 500 states with 1,000 edges out in well under a frame's patience", () => {
  const column = Array.from({ length: 500 }, (_, i) => i % 40);
  const edges = Array.from({ length: 1000 }, (_, i) => ({ from: i % 500, to: (i * 7 + 1) % 500 }));
  const began = performance.now();
  layoutColumns(column, edges);
  expect(performance.now() - began).toBeLessThan(500);
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
