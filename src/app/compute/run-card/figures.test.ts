import { expect, it } from "vitest";
import fc from "../../../../test/support/property.ts";
import { NO_FIGURES, type RunEvaluation } from "../runs/run.ts";
import { newRun } from "../runs/runs-store.ts";
import { curveOf, intervalText, numberText, readAt, spread } from "./figures.ts";

it("reads the last evaluation up to a step, with its spread, and draws its interval", () => {
  const evaluation = (step: number, mean: number, sd: number | null): RunEvaluation => ({
    ...{ step, seconds: 1, tasks: 2, seeds: [0], score: null, technical: [], per_seed: [], per_type: {} },
    ...{
      sr: { mean, sd },
      sr_interval: [0, mean],
      rounds: { mean: 1, sd: null },
      pass_at_k: 0,
      score_at_k: null,
    },
  });
  const run = {
    ...newRun({ id: "train-000000000000", where: "worker", title: "", config: {} }),
    figures: { ...NO_FIGURES, evaluations: [evaluation(0, 10, null), evaluation(4, 62.5, 4.13)] },
  };
  expect(curveOf(run, "evaluatedSr")).toEqual([
    { x: 0, y: 10, bar: [0, 10] },
    { x: 4, y: 62.5, bar: [0, 62.5] },
  ]);
  expect([0, 3, 4, 9, null].map((step) => readAt(run, "evaluatedSr", step))).toEqual([
    ...["10.0", "10.0"],
    ...["62.5 ± 4.1", "62.5 ± 4.1", "62.5 ± 4.1"],
  ]);
  expect(readAt({ ...run, figures: NO_FIGURES }, "evaluatedSr", 3)).toBe("–");
  expect(readAt(run, "loss", 3)).toBe("–");
});

it("writes every minus sign as one, in an exponent too", () => {
  expect([numberText(-3e-9), numberText(0.5), intervalText([-20.1, 3])]).toEqual([
    "−3.00e−9",
    "0.5000",
    "−20.1 to 3.0",
  ]);
});

it("puts the numbers of curves apart, in the order of their ends", () => {
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
