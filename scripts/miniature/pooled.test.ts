import { expect, it } from "vitest";
import { pooledDifferences, pooledMethods, type Unit } from "./pooled.ts";

const unit = (world: number, seed: number, method: string, success: number): Unit => ({
  world,
  seed,
  method,
  success,
});
const units = [
  ...[unit(1, 1, "a", 10), unit(1, 2, "a", 12), unit(2, 1, "a", 20), unit(2, 2, "a", 22)],
  ...[unit(1, 1, "b", 13), unit(1, 2, "b", 13), unit(2, 1, "b", 26)],
  ...[unit(1, 1, "c", 10), unit(2, 1, "c", 20)],
];

it("pairs over worlds and seeds that both have, by hand", () => {
  const [first, second] = pooledDifferences(
    [
      ["b", "a"],
      ["c", "a"],
      ["b", "d"],
    ],
    units,
  );
  // 3, 1 and 6: mean 10/3, SD √(19/3), t = 2.294 with 2 degrees of freedom.
  expect(first).toMatchObject({ a: "b", b: "a", over: { n: 3 } });
  expect(first!.over.mean).toBeCloseTo(10 / 3, 12);
  expect(first!.over.sd).toBeCloseTo(Math.sqrt(19 / 3), 12);
  expect(first!.p).toBeCloseTo(0.1487, 3);
  // No difference varies in the second: there is one test, and nothing to adjust.
  expect(second!.p).toBeNull();
  expect(first!.p_holm).toBe(first!.p);
  expect(first!.by_world).toEqual([
    { world: 1, n: 2, mean: 2 },
    { world: 2, n: 1, mean: 6 },
  ]);
});

it("has a row per method that was trained", () => {
  const rows = pooledMethods(
    [
      { id: "a", label: "A" },
      { id: "d", label: "D" },
    ],
    units,
  );
  expect(rows).toMatchObject([{ label: "A", over: { n: 4, mean: 16 } }]);
});
