import { expect, it } from "vitest";
import { NO_FIGURES, type Run, type RunPoint } from "../runs/run.ts";
import { newRun } from "../runs/runs-store.ts";
import { averageOf, readSeries, seriesCurve, seriesName, seriesOf } from "./series.ts";

const run = (seed: number, batch: number, ...losses: number[]): Run => ({
  ...newRun({
    ...{ id: `train-${seed}${batch}`, where: "worker", title: `batch ${batch}` },
    config: { teacher: "t", student: "s", episodes: "e", library: "l", seed, batch_size: batch },
  }),
  figures: {
    ...NO_FIGURES,
    points: losses.map((loss, n) => ({ step: n + 1, stage: 0, loss }) as RunPoint),
  },
});

it("draws the seeds of one config as one curve, and every run for itself where that is asked for", () => {
  const runs = [run(0, 4, 1), run(0, 8, 1), run(1, 4, 3)];
  expect(seriesOf(runs, true).map((series) => series.map(({ id }) => id))).toEqual([
    ["train-04", "train-14"],
    ["train-08"],
  ]);
  expect(seriesOf(runs, false)).toHaveLength(3);
  expect(seriesOf(runs, true).map(seriesName)).toEqual(["batch 4, mean of 2 seeds", "batch 8"]);
});

it("is the mean with the spread, of those that have the step", () => {
  const [series] = seriesOf([run(0, 4, 1, 2, 7), run(1, 4, 3, 2)], true);
  const curve = seriesCurve(series!, "loss");
  expect(curve.map(({ x, y }) => [x, y])).toEqual([
    [1, 2],
    [2, 2],
    [3, 7],
  ]);
  expect(curve[0]!.band![1] - 2).toBeCloseTo(Math.SQRT2);
  expect(curve[1]!.band).toEqual([2, 2]);
  expect(curve[2]!.band).toBeUndefined();
  expect([1, 3, 9, null].map((step) => readSeries(series!, "loss", step))).toEqual([
    "2.000 ± 1.414",
    "7.000",
    "–",
    "7.000",
  ]);
  expect(averageOf([[], []])).toEqual([]);
});
