import { describe, expect, it } from "vitest";
import { GATE_CONTEXTS, type GateSummary } from "../../../core/gate/index.ts";
import { SWEEPS, type SweepId, type Swept } from "./run-sweep.ts";
import { coverageSeries, gateSeries, sweepAxis, sweepCsv } from "./sweep-words.ts";

/** A figure of 0.1 more for each point. */
const summaryOf = (n: number) =>
  ({
    decisions: 6,
    contexts: GATE_CONTEXTS.map((context) => ({
      context,
      optimal: { value: n / 10, interval: n === 0 ? null : [0, 1] },
    })),
  }) as unknown as GateSummary;

const swept = (sweep: SweepId, covered: readonly number[]): Pick<Swept, "sweep" | "tasks" | "rows"> => ({
  ...{ sweep, tasks: 8 },
  rows: SWEEPS[sweep].values.map((value, n) => ({
    ...{ value, covered: covered[n]!, decisions: [], looked: 6, summary: summaryOf(n) },
  })),
});

const places = (of: Parameters<typeof gateSeries>[0]) =>
  gateSeries(of)
    .at(-1)!
    .points.map(({ at }) => at);

describe("where the points lie", () => {
  it("K: one after the other, with the coverage beside it", () => {
    const k = swept("k", [1, 2, 4, 6, 6]);
    expect(places(k)).toEqual([0, 0.25, 0.5, 0.75, 1]);
    expect(sweepAxis(k).ticks.map(({ text }) => text)).toEqual(["1", "2", "4", "8", "16"]);
    expect(sweepAxis(k).spoken(0.5)).toBe("K = 4");
    const [{ points }] = coverageSeries(k) as [ReturnType<typeof coverageSeries>[number]];
    expect(points.map(({ estimate }) => estimate.value)).toEqual([0.125, 0.25, 0.5, 0.75, 0.75]);
  });

  it("coverage: at the share of all tasks, once where two draws cover the same", () => {
    const coverage = swept("coverage", [0, 1, 1, 4, 6]);
    expect(places(coverage)).toEqual([0, 0.125, 0.5, 0.75]);
    expect(sweepAxis(coverage).spoken(0.125)).toBe("1 of 8 tasks");
  });

  it("failures: at their share", () => {
    const failures = swept("failures", [6, 6, 6, 6, 6]);
    expect(places(failures)).toEqual([0, 0.25, 0.5, 0.75, 1]);
    expect(sweepAxis(failures).spoken(0.25)).toBe("25 %");
  });
});

it("has a line of the table for each point and context that is there, numbers in full", () => {
  const whole = swept("coverage", [0, 1, 3, 4, 6]);
  const begun = { ...whole, rows: whole.rows.map((row, n) => (n < 2 ? row : { ...row, summary: null })) };
  const lines = sweepCsv(begun).trimEnd().split("\r\n");
  expect(lines).toHaveLength(1 + 2 * GATE_CONTEXTS.length);
  expect(lines.slice(0, 2)).toEqual([
    "coverage,tasks,covered,decisions,context,p_optimal,low,high",
    "0,8,0,6,none,0,,",
  ]);
  expect(lines.at(-1)).toBe("0.25,8,1,6,graph,0.1,0,1");
});
