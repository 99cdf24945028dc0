import { expect, it } from "vitest";
import { twoSidedP, twoSidedT } from "./student-t.ts";

it.each([
  // Tables of the t distribution, two-sided 5 %.
  [1, 12.7062],
  [2, 4.3027],
  [3, 3.1824],
  [15, 2.1314],
  [120, 1.9799],
])("with %d degrees of freedom 5 %% lie beyond ±%d", (freedom, t) => {
  expect(twoSidedT(0.05, freedom)).toBeCloseTo(t, 4);
  expect(twoSidedP(t, freedom)).toBeCloseTo(0.05, 5);
});

it("has closed forms for one and two degrees of freedom", () => {
  for (const t of [0, 0.3, 1, 2.5, 40]) {
    expect(twoSidedP(t, 1)).toBeCloseTo(1 - (2 / Math.PI) * Math.atan(t), 12);
    expect(twoSidedP(-t, 2)).toBeCloseTo(1 - t / Math.sqrt(2 + t * t), 12);
  }
  expect(twoSidedP(Number.POSITIVE_INFINITY, 3)).toBe(0);
});
