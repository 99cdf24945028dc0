import { expect, it } from "vitest";
import { environmentFixture } from "../../../test/support/environment-fixture.ts";
import { byTask } from "../../../test/support/scienceworld.ts";
import { bootstrap } from "../bootstrap.ts";
import { CONTROLS } from "../retrieval/selection.ts";
import { ABLATION_BUDGETS, AblationCollector, type AblationMatrix } from "./ablation.ts";
import { StatisticsCollector, type TaskRecords } from "./library-statistics.ts";

const { sources, episodes } = environmentFixture("scienceworld");
const played = byTask(episodes);
const TASKS: TaskRecords[] = [...byTask(sources)].map(([task, records]) => ({
  environment: "scienceworld",
  task,
  sources: records,
  episodes: (played.get(task) ?? []).slice(0, 2),
}));

function matrixOf(cluster: "task" | "episode", tasks: readonly TaskRecords[]): AblationMatrix {
  const collector = new AblationCollector(cluster);
  for (const task of tasks) for (const _ of collector.add(task));
  const result = collector.result();
  for (let next = result.next(); ; next = result.next()) if (next.done) return next.value;
}

it("counts in each cell what the statistics count under its selection", () => {
  const matrix = matrixOf("task", TASKS);
  expect(matrix.cells).toHaveLength(CONTROLS.length * ABLATION_BUDGETS.length);
  for (const { control, sourcesPerTask, figures } of matrix.cells) {
    if (sourcesPerTask !== null && sourcesPerTask !== 4) continue;
    const selection = { control, ...(sourcesPerTask === null ? {} : { sourcesPerTask }) };
    const collector = new StatisticsCollector({ selection });
    for (const task of TASKS) collector.add(task);
    const { decisions, evidence, coverage } = collector.result();
    const { decisions: all, matched, success, outcomes } = decisions!;
    expect(matrix.decisions).toBe(all);
    expect(matrix.coverage).toEqual(coverage);
    expect(figures.matched.value).toBeCloseTo(matched / all, 12);
    expect(figures.fallback.value).toBeCloseTo((success.unaligned + success.unverified) / all, 12);
    expect(figures.referenced.value).toBeCloseTo(1 - outcomes.none / all, 12);
    expect(figures.evidence.value).toBeCloseTo(evidence!.mean!, 6);
    for (const { value, interval } of Object.values(figures)) {
      expect(interval![0]).toBeLessThanOrEqual(value!);
      expect(interval![1]).toBeGreaterThanOrEqual(value!);
    }
  }
  const hindsight = matrix.cells.filter(({ control }) => control === "hindsight-only");
  for (const { figures } of hindsight) expect(figures.referenced.value).toBe(0);
});

it("has intervals over the episodes of a single task, and none over one episode", () => {
  const task = TASKS.find((each) => each.episodes.length === 2)!;
  const two = matrixOf("episode", [task]);
  expect(two.clusters).toEqual({ kind: "episode", count: 2 });
  expect(two.cells[0]!.figures.matched.interval).not.toBeNull();
  const one = matrixOf("episode", [{ ...task, episodes: task.episodes.slice(0, 1) }]);
  expect(one.cells.every(({ figures }) => figures.matched.interval === null)).toBe(true);
});

it("draws whole clusters: a ratio that is the same in all of them has no spread", () => {
  expect(bootstrap([1, 2, 30], [2, 4, 60])).toEqual([0.5, 0.5]);
  const [low, high] = bootstrap([0, 10], [10, 10]);
  expect([low, high]).toEqual([0, 1]);
});
