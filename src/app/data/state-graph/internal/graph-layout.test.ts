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

it("reads four times the graph about four times as often, in every sweep", () => {
  const reads = (states: number): number => {
    let count = 0;
    const counted = <T extends object>(target: T): T =>
      new Proxy(target, {
        get(of, key, receiver) {
          count++;
          return Reflect.get(of, key, receiver);
        },
      });
    const column = Array.from({ length: states }, (_, i) => i % 40);
    const edges = Array.from({ length: 2 * states }, (_, i) => ({
      from: i % states,
      to: (i * 7 + 1) % states,
    }));
    layoutColumns(counted(column), edges.map(counted));
    return count;
  };
  // Sorting adds a logarithm. By the square it were 16.
  expect(reads(2000) / reads(500)).toBeLessThan(6);
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
