import { describe, expect, it } from "vitest";
import fc from "../../../../test/support/property.ts";
import { evenRows, MOST_HEIGHT, rowWindow, unevenRows } from "./row-window.ts";

describe("rowWindow", () => {
  it("draws what is in sight with a margin, and leaves the height of the rest free", () => {
    expect(rowWindow(evenRows(1000, 50), { top: 0, height: 500 }, 2)).toEqual({
      first: 0,
      end: 12,
      before: 0,
      after: 988 * 50,
    });
    expect(rowWindow(evenRows(1000, 50), { top: 25_010, height: 500 }, 2)).toEqual({
      first: 498,
      end: 513,
      before: 498 * 50,
      after: 487 * 50,
    });
  });

  it("takes no row at all and rows that all fit", () => {
    expect(rowWindow(evenRows(0, 50), { top: 0, height: 500 })).toEqual({
      first: 0,
      end: 0,
      before: 0,
      after: 0,
    });
    expect(rowWindow(evenRows(3, 50), { top: 0, height: 500 })).toEqual({
      first: 0,
      end: 3,
      before: 0,
      after: 0,
    });
  });

  it("covers what is in sight wherever it is scrolled to, below the height that browsers draw", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 5_000_000 }),
        fc.integer({ min: 100, max: 2000 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (rows, height, share) => {
          const drawn = Math.min(rows * 52, MOST_HEIGHT);
          const top = share * Math.max(0, drawn - height);
          const { first, end, before, after } = rowWindow(evenRows(rows, 52), { top, height });
          expect(before + (end - first) * 52).toBeGreaterThanOrEqual(Math.min(drawn, top + height) - 0.01);
          expect(before).toBeLessThanOrEqual(top + 0.01);
          expect(end - first).toBeLessThanOrEqual(Math.ceil(height / 52) + 18);
          expect(before + after).toBeLessThanOrEqual(MOST_HEIGHT);
          if (share === 0) expect(first).toBe(0);
          if (share === 1) expect(end).toBe(rows);
        },
      ),
    );
    expect(rowWindow(evenRows(1_000_000, 52), { top: MOST_HEIGHT - 600, height: 600 }).end).toBe(1_000_000);
  });

  it("covers what is in sight of rows of different heights, and leaves exactly the height of the rest free", () => {
    expect(rowWindow(unevenRows([]), { top: 0, height: 500 })).toEqual(
      rowWindow(evenRows(0, 1), { top: 0, height: 500 }),
    );
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 120 }), { minLength: 1, maxLength: 400 }),
        fc.integer({ min: 20, max: 600 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.integer({ min: 0, max: 9 }),
        (heights, height, share, overscan) => {
          const whole = heights.reduce((sum, each) => sum + each, 0);
          const top = share * Math.max(0, whole - height);
          const { first, end, before, after } = rowWindow(unevenRows(heights), { top, height }, overscan);
          const sum = (from: number, to: number) => heights.slice(from, to).reduce((a, b) => a + b, 0);
          expect(before).toBe(sum(0, first));
          expect(after).toBe(sum(end, heights.length));
          // The rows that are seen, found one by one.
          const seen = heights.flatMap((each, row) => {
            const start = sum(0, row);
            return start < top + height && start + each > top ? [row] : [];
          });
          expect(first).toBe(Math.max(0, seen[0]! - overscan));
          expect(end).toBe(Math.min(heights.length, seen.at(-1)! + 1 + overscan));
        },
      ),
    );
  });

  it("draws rows of one height the same, however they are given", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 300 }), fc.nat(20_000), (rows, top) => {
        const scrolled = { top, height: 333 };
        expect(rowWindow(unevenRows(Array(rows).fill(40)), scrolled)).toEqual(
          rowWindow(evenRows(rows, 40), scrolled),
        );
      }),
    );
  });
});
