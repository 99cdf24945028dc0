import { expect, it } from "vitest";
import { bestEvaluated } from "./best.ts";

const evaluated = (step: number, sr: number, score: number | null = null, tasks = 4) => ({
  ...{ step, tasks },
  sr: { mean: sr, sd: null },
  score: score === null ? null : { mean: score, sd: null },
});

it("takes the highest success rate, then the highest score, then the first", () => {
  expect(bestEvaluated([])).toBeNull();
  expect(bestEvaluated([evaluated(0, 10), evaluated(5, 30), evaluated(9, 20)])?.step).toBe(5);
  expect(bestEvaluated([evaluated(0, 10), evaluated(5, 10)])?.step).toBe(0);
  // Three of three tasks are not more than three of four.
  expect(bestEvaluated([evaluated(0, 75), evaluated(5, 100, null, 3)])?.step).toBe(0);
  expect(bestEvaluated([evaluated(0, 0, 3), evaluated(5, 0, 40), evaluated(9, 0, 40)])?.step).toBe(5);
});
