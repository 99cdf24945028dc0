import { expect, it } from "vitest";
import fc from "../../../test/support/property.ts";
import { onCycles, strongComponents } from "./cycles.ts";

const edge = ([from, to]: readonly [number, number]) => ({ from, to });

it("tells edges of a cycle from those that lead in and out", () => {
  const edges = (
    [
      [0, 1],
      [1, 2],
      [2, 1],
      [2, 3],
      [3, 3],
    ] as const
  ).map(edge);
  expect(onCycles(4, edges)).toEqual([false, true, true, false, true]);
  expect(onCycles(0, [])).toEqual([]);
});

it("follows a path of a hundred thousand states", () => {
  const length = 100_000;
  const edges = Array.from({ length: length - 1 }, (_, i) => ({ from: i, to: i + 1 }));
  expect(new Set(strongComponents(length, edges)).size).toBe(length);
  expect(new Set(strongComponents(length, [...edges, { from: length - 1, to: 0 }])).size).toBe(1);
});

it("agrees with reachability", () => {
  const graphs = fc
    .integer({ min: 1, max: 9 })
    .chain((nodes) =>
      fc.tuple(
        fc.constant(nodes),
        fc.array(fc.tuple(fc.nat({ max: nodes - 1 }), fc.nat({ max: nodes - 1 })), { maxLength: 20 }),
      ),
    );
  fc.assert(
    fc.property(graphs, ([nodes, pairs]) => {
      const reach = Array.from({ length: nodes }, (_, i) =>
        Array.from({ length: nodes }, (__, j) => i === j),
      );
      for (const [from, to] of pairs) reach[from]![to] = true;
      for (let via = 0; via < nodes; via++)
        for (let i = 0; i < nodes; i++)
          for (let j = 0; j < nodes; j++) reach[i]![j] ||= reach[i]![via]! && reach[via]![j]!;
      expect(onCycles(nodes, pairs.map(edge))).toEqual(pairs.map(([from, to]) => reach[to]![from]!));
    }),
  );
});
