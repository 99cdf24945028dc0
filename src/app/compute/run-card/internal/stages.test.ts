import { expect, it } from "vitest";
import { NO_FIGURES, type Run, type RunPoint } from "../../runs/run.ts";
import { newRun } from "../../runs/runs-store.ts";
import { stageNames, stageSpans } from "./stages.ts";

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

it("names every stage at any width of the chart", () => {
  const texts = ["vanilla", "graph-conditioned"];
  const shown = (at: number[], right: number) => stageNames(texts, at, right).map((name) => name?.text);
  expect(shown([50, 200], 400)).toEqual(texts);
  // Half of a narrow chart.
  expect(shown([50, 160], 270)).toEqual(["vanilla", "graph-conditio…"]);
  // A stage that has just begun is named at the right end, before its line, and the first one keeps its name.
  expect(stageNames(texts, [50, 260], 270)).toEqual([
    { text: "vanilla", x: 54, anchor: "start" },
    { text: "graph-condition…", x: 270, anchor: "end" },
  ]);
});
