import { expect, it } from "vitest";
import { NO_FIGURES, type Run, type RunPoint } from "../runs/run.ts";
import { newRun } from "../runs/runs-store.ts";
import { stageSpans } from "./stages.ts";

const run = (...stages: number[]): Run => ({
  ...newRun({ id: "a", where: "page", title: "", config: {} }),
  figures: {
    ...NO_FIGURES,
    stages: [
      { name: "vanilla", epochs: 1, steps: 2 },
      { name: "graph", epochs: 1, steps: 2 },
    ],
    points: stages.map((stage, n) => ({ step: n + 1, stage }) as RunPoint),
  },
});

it("says where stages begin, once where all curves agree, and whose they are where they do not", () => {
  const series = (...runs: [Run, ...Run[]]) => runs;
  expect(stageSpans([{ series: series(run(0, 0, 1, 1), run(0, 0, 1)), place: 0 }])).toEqual([
    { name: "vanilla", from: 1, who: null },
    { name: "graph", from: 3, who: null },
  ]);
  expect(
    stageSpans([
      { series: series(run(0, 0, 1)), place: 0 },
      { series: series(run(0, 0, 0)), place: 1 },
    ]),
  ).toEqual([
    { name: "vanilla", from: 1, who: null },
    { name: "graph", from: 3, who: "#1" },
  ]);
  expect(stageSpans([{ series: series(run()), place: 0 }])).toEqual([]);
});
