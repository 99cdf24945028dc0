import fc from "fast-check";
import { expect, it } from "vitest";
import { spread } from "./figures.ts";

it("puts the letters of curves apart, in the order of their ends", () => {
  expect(spread([40, 40, 10], 10, 126)).toEqual([40, 50, 10]);
  expect(spread([126, 126, 120], 10, 126)).toEqual([116, 126, 106]);
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 126 }), { maxLength: 6 }), (ends) => {
      const placed = spread(ends, 10, 126);
      const sorted = [...placed].sort((a, b) => a - b);
      expect(Math.max(0, ...placed)).toBeLessThanOrEqual(126);
      for (const [i, at] of sorted.entries())
        if (i > 0) expect(at - sorted[i - 1]!).toBeGreaterThanOrEqual(10);
      for (const [i, a] of ends.entries())
        for (const [j, b] of ends.entries()) if (a < b) expect(placed[i]!).toBeLessThan(placed[j]!);
    }),
  );
});
