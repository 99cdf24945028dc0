import { describe, expect, it } from "vitest";
import type { EvaluatedEpisode } from "./metrics.ts";
import {
  type GridTable,
  gridTable,
  type MethodComparison,
  overSeeds,
  type PlayedCell,
} from "./training-seeds.ts";

/** A text per task: a digit per inference seed, 1 where it won. */
const played = (wins: Record<string, string>, more: Partial<EvaluatedEpisode> = {}): EvaluatedEpisode[] =>
  Object.entries(wins).flatMap(([task, digits]) =>
    [...digits].map((digit, seed) => ({
      ...{ task, type: null, seed, score: null, decisions: digit === "1" ? 4 : 10 },
      success: digit === "1",
      ...more,
    })),
  );

const names = { evaluation: "unseen", environment: "alfworld", checkpoint: "final" };
const cell = (method: string, seed: number, episodes: readonly EvaluatedEpisode[]): PlayedCell => ({
  method,
  seed,
  episodes,
});
const tableOf = (input: Parameters<typeof gridTable>[0]): GridTable => gridTable(input)!;
const methods = [
  { id: "opd", label: "Vanilla OPD" },
  { id: "gc-opd", label: "GC-OPD" },
];

it("has mean, sample SD and Student's interval over training seeds", () => {
  // SD = √(((−10)² + 0² + 10²) / 2) = 10; half = 4.3027 · 10 / √3.
  const { n, mean, sd, interval } = overSeeds([20, 30, 40]);
  expect([n, mean, sd]).toEqual([3, 30, 10]);
  expect(interval![0]).toBeCloseTo(30 - 24.8414, 3);
  expect(interval![1]).toBeCloseTo(30 + 24.8414, 3);
  expect(overSeeds([20])).toEqual({ n: 1, mean: 20, sd: null, interval: null });
});

describe("a table of two methods, two training seeds, two inference seeds and two tasks", () => {
  const cells = [
    cell("opd", 1, played({ a: "10", b: "00" })), // inference seeds 50, 0: 25
    cell("gc-opd", 1, played({ a: "11", b: "00" })), // 50, 50: 50
    cell("opd", 2, played({ a: "10", b: "10" })), // 100, 0: 50
    cell("gc-opd", 2, played({ a: "11", b: "11" })), // 100, 100: 100
  ];
  const table = tableOf({ ...names, methods, cells, untrained: played({ a: "00", b: "01" }) });

  it("keeps training seeds and inference seeds apart", () => {
    expect(table.inference_seeds).toEqual([0, 1]);
    const [opd, gc] = table.methods;
    expect(opd).toMatchObject({ method: "opd", label: "Vanilla OPD", training_seeds: [1, 2], score: null });
    expect(opd!.sr).toMatchObject({ n: 2, mean: 37.5 });
    expect(opd!.sr.sd).toBeCloseTo(Math.sqrt(2 * 12.5 ** 2), 12);
    expect(gc!.sr).toMatchObject({ n: 2, mean: 75 });
    // Rounds: (4 + 10 + 10 + 10)/4 = 8.5 and (4 + 10 + 4 + 10)/4 = 7.
    expect(opd!.rounds).toMatchObject({ n: 2, mean: 7.75 });
    expect(table.cells[0]).toMatchObject({ method: "opd", training_seed: 1, sr: { mean: 25 } });
    expect(table.cells[0]!.sr.sd).toBeCloseTo(Math.sqrt(2 * 25 ** 2), 12);
    expect(table.untrained).toMatchObject({ sr: { mean: 25 } });
    expect([table.tasks, table.left_out]).toEqual([2, []]);
  });

  it("pairs methods by training seed, on the same tasks", () => {
    expect(table.comparisons).toHaveLength(1);
    const [{ a, b, sr, ...rest }] = table.comparisons as [(typeof table.comparisons)[number]];
    expect([a, b]).toEqual(["gc-opd", "opd"]);
    expect(rest).toMatchObject({ training_seeds: [1, 2], score: null });
    // Differences 25 and 50: mean 37.5, SD 17.678, t = 3 with one degree of freedom: p = 1 − 2/π · atan 3.
    expect(sr).toMatchObject({ n: 2, mean: 37.5 });
    expect(sr.p).toBeCloseTo(1 - (2 / Math.PI) * Math.atan(3), 10);
    expect(sr.p_holm).toBe(sr.p);
    // Over tasks: a gains (50 + 50)/2 = 50, b (0 + 50)/2 = 25.
    expect(sr.over_tasks).toEqual([25, 50]);
  });
});

describe("tasks that some cell could not play", () => {
  const broken = (task: string) => played({ [task]: "1" }, { technical: "the process died" });
  const input = (first: EvaluatedEpisode[], second: EvaluatedEpisode[]) => ({
    ...names,
    methods,
    cells: [
      cell("opd", 1, first),
      cell("gc-opd", 1, second),
      cell("opd", 2, played({ a: "1", b: "0" })),
      cell("gc-opd", 2, played({ a: "0", b: "1" })),
    ],
    untrained: played({ a: "1", b: "0" }),
  });

  it("are in no figure of the table, so that every row is over the same tasks", () => {
    const table = tableOf(input([...broken("a"), ...played({ b: "0" })], played({ a: "0", b: "1" })));
    expect([table.tasks, table.left_out]).toEqual([1, ["a"]]);
    // With task a, the second training would have a difference of 0.
    expect(table.comparisons[0]!.sr).toMatchObject({ n: 2, mean: 100, p: null, over_tasks: null });
    expect(table.methods.map(({ sr }) => sr.mean)).toEqual([0, 100]);
    expect(table.cells.map(({ sr }) => sr.mean)).toEqual([0, 100, 0, 100]);
    expect(table.untrained!.sr.mean).toBe(0);
    expect(table.cells[0]!.technical).toEqual([{ task: "a", seed: 0, reason: "the process died" }]);
  });

  it("leave no table where they are all, although each cell has results", () => {
    const [first, second] = [
      [...broken("a"), ...played({ b: "0" })],
      [...played({ a: "0" }), ...broken("b")],
    ];
    expect(gridTable(input(first, second))).toBeNull();
  });
});

it("has no p for equal differences, however they were added up", () => {
  // Three inference seeds: 20 points come out as 20.000000000000004 in one training.
  const tasks = Array.from({ length: 10 }, (_, n) => `t${n}`);
  const wins = (count: number) =>
    played(Object.fromEntries(tasks.map((task, n) => [task, digits(count, n)])));
  /** Three digits of each of ten tasks, `count` of the thirty won. */
  const digits = (count: number, n: number) => [0, 1, 2].map((k) => (3 * n + k < count ? "1" : "0")).join("");
  const cells = [
    ...[cell("opd", 1, wins(4)), cell("gc-opd", 1, wins(10))],
    ...[cell("opd", 2, wins(11)), cell("gc-opd", 2, wins(17))],
  ];
  const [{ sr }] = tableOf({ ...names, methods, cells, untrained: null }).comparisons as [MethodComparison];
  expect(sr.mean).toBeCloseTo(20, 10);
  expect(sr).toMatchObject({ n: 2, sd: 0, p: null, p_holm: null });
  expect(overSeeds([20, 20.000000000000004])).toMatchObject({ sd: 0 });
});

it("compares over the training seeds that both methods have, and a method without a cell has no row", () => {
  const won = played({ a: "1" });
  const lost = played({ a: "0" });
  const three = [...methods, { id: "other", label: "Other" }];
  const table = tableOf({
    ...names,
    methods: three,
    cells: [cell("opd", 1, won), cell("opd", 2, won), cell("gc-opd", 2, lost)],
    untrained: null,
  });
  expect(table.methods.map(({ method, sr }) => [method, sr.n])).toEqual([
    ["opd", 2],
    ["gc-opd", 1],
  ]);
  expect(table.comparisons.map(({ training_seeds }) => training_seeds)).toEqual([[2]]);
  expect(table.comparisons[0]!.sr).toMatchObject({ n: 1, mean: -100, sd: null, p: null, p_holm: null });
});

it("adjusts p by Holm over the pairs of a table", () => {
  const tasks = ["a", "b", "c", "d"];
  const cells = [
    ["opd", [0, 0, 0]],
    ["gc-opd", [2, 2, 3]],
    ["other", [2, 3, 1]],
  ] as const;
  const table = tableOf({
    ...names,
    methods: [...methods, { id: "other", label: "Other" }],
    cells: cells.flatMap(([method, wins]) =>
      wins.map((count, seed) =>
        cell(method, seed, played(Object.fromEntries(tasks.map((task, n) => [task, n < count ? "1" : "0"])))),
      ),
    ),
    untrained: null,
  });
  const p = table.comparisons.map(({ sr }) => sr.p!);
  const sorted = [...p].sort((x, y) => x - y);
  const expected = [3 * sorted[0]!, Math.max(3 * sorted[0]!, 2 * sorted[1]!), 0];
  expected[2] = Math.max(expected[1]!, sorted[2]!);
  expect(table.comparisons.map(({ sr }) => sr.p_holm)).toEqual(
    p.map((value) => Math.min(1, expected[sorted.indexOf(value)]!)),
  );
});

it("refuses a table of nothing", () => {
  expect(() => gridTable({ ...names, methods, cells: [], untrained: null })).toThrow("nothing was evaluated");
});
