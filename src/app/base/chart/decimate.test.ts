import { expect, it } from "vitest";
import { decimate, type XY } from "./decimate.ts";

const wave = (count: number): XY[] =>
  Array.from({ length: count }, (_, n) => ({ x: n, y: Math.sin(n / 7) + (n === 3210 ? 9 : 0) }));

it("leaves a curve as it is where its points can be told apart", () => {
  const points = wave(400);
  expect(decimate(points, 100, (x) => x / 4)).toBe(points);
});

it("keeps what can be seen of a long one: ends, lowest and highest of each column, in order", () => {
  const points = wave(5000);
  const column = (x: number) => x / 50;
  const kept = decimate(points, 100, column);
  expect(kept.length).toBeLessThanOrEqual(400);
  expect(kept[0]).toBe(points[0]);
  expect(kept.at(-1)).toBe(points.at(-1));
  expect(kept).toContain(points[3210]);
  for (let n = 1; n < kept.length; n++) expect(kept[n]!.x).toBeGreaterThan(kept[n - 1]!.x);
  const extremes = (of: readonly XY[], at: number) => {
    const ys = of.filter(({ x }) => Math.floor(column(x)) === at).map(({ y }) => y);
    return [Math.min(...ys), Math.max(...ys), ys[0], ys.at(-1)];
  };
  for (let at = 0; at < 100; at++) expect(extremes(kept, at)).toEqual(extremes(points, at));
});
