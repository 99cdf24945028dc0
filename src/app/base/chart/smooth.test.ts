import { expect, it } from "vitest";
import { smooth } from "./smooth.ts";

const curve = (...ys: number[]) => ys.map((y, x) => ({ x, y }));

it("is the mean of the steps around each step, of fewer at the ends", () => {
  expect(smooth(curve(0, 3, 6, 0, 3), 3).map(({ y }) => y)).toEqual([1.5, 3, 3, 3, 1.5]);
  expect(smooth(curve(5, 5, 5, 5), 50).map(({ y }) => y)).toEqual([5, 5, 5, 5]);
});

it("counts steps, not points, and leaves a curve as it is without a window", () => {
  const sparse = [
    { x: 0, y: 1 },
    { x: 100, y: 9 },
  ];
  expect(smooth(sparse, 10).map(({ y }) => y)).toEqual([1, 9]);
  const points = curve(1, 2);
  expect(smooth(points, 1)).toBe(points);
});
