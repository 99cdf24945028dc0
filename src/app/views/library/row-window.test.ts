import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MOST_HEIGHT, rowWindow } from "./row-window.ts";

describe("rowWindow", () => {
  it("draws what is in sight with a margin, and leaves the height of the rest free", () => {
    expect(rowWindow(1000, 50, { top: 0, height: 500 }, 2)).toEqual({
      first: 0,
      end: 12,
      before: 0,
      after: 988 * 50,
    });
    expect(rowWindow(1000, 50, { top: 25_010, height: 500 }, 2)).toEqual({
      first: 498,
      end: 513,
      before: 498 * 50,
      after: 487 * 50,
    });
  });

  it("takes no row at all and rows that all fit", () => {
    expect(rowWindow(0, 50, { top: 0, height: 500 })).toEqual({ first: 0, end: 0, before: 0, after: 0 });
    expect(rowWindow(3, 50, { top: 0, height: 500 })).toEqual({ first: 0, end: 3, before: 0, after: 0 });
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
          const { first, end, before, after } = rowWindow(rows, 52, { top, height });
          expect(before + (end - first) * 52).toBeGreaterThanOrEqual(Math.min(drawn, top + height) - 0.01);
          expect(before).toBeLessThanOrEqual(top + 0.01);
          expect(end - first).toBeLessThanOrEqual(Math.ceil(height / 52) + 18);
          expect(before + after).toBeLessThanOrEqual(MOST_HEIGHT);
          if (share === 0) expect(first).toBe(0);
          if (share === 1) expect(end).toBe(rows);
        },
      ),
    );
    expect(rowWindow(1_000_000, 52, { top: MOST_HEIGHT - 600, height: 600 }).end).toBe(1_000_000);
  });
});
