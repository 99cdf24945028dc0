import { describe, expect, it } from "vitest";
import { taskSummary } from "../../../../test/support/summaries.ts";
import { taskKey } from "../../../core/record/library.ts";
import { decisionShare, visibleTasks, wholeColumns } from "./sort-tasks.ts";
import { emptyColumns, UNCOUNTED, withBatch } from "./task-columns.ts";

const tasks = [
  taskSummary("melt", 0, { sources: 3, decisions: 10, description: "Melt the gallium" }),
  taskSummary("boil", 1, { sources: 3, decisions: 2 }),
  taskSummary("grow", 2, { sources: 9 }),
];
const columns = withBatch(emptyColumns(3), {
  places: Uint32Array.of(0, 1, 2),
  counts: Int32Array.of(40, 4, 1, 0, 10, 20, 6, 1, 1, 2, 30, 5, 0, 0, 0),
  problem: null,
  brokeOff: null,
});
const names = (
  place: Partial<Parameters<typeof visibleTasks>[2]>,
  counted: typeof columns | null = columns,
): string[] =>
  visibleTasks(tasks, counted, { filter: "", sort: "task", descending: false, ...place }).map(
    ({ task }) => task,
  );

describe("visibleTasks", () => {
  it("sorts by each kind of column, ties by name", () => {
    expect(names({})).toEqual(["boil", "grow", "melt"]);
    expect(names({ sort: "sources" })).toEqual(["boil", "melt", "grow"]);
    expect(names({ sort: "sources", descending: true })).toEqual(["grow", "boil", "melt"]);
    expect(names({ sort: "matched", descending: true })).toEqual(["boil", "melt", "grow"]);
    expect(names({ sort: "states" })).toEqual(["boil", "grow", "melt"]);
    expect(names({ sort: "shared" })).toEqual(["melt", "grow", "boil"]);
  });
  it("keeps to the names while a column is not counted whole", () => {
    const some = withBatch(emptyColumns(3), {
      places: Uint32Array.of(1),
      counts: Int32Array.of(1, 1, 1, 0, 1),
      problem: null,
      brokeOff: null,
    });
    expect(wholeColumns(some)).toBeNull();
    expect(wholeColumns(columns)).toBe(columns);
    expect(names({ sort: "states", descending: true }, null)).toEqual(["boil", "grow", "melt"]);
  });
  it("finds every word, in name or description", () => {
    expect(names({ filter: "GALLIUM melt" })).toEqual(["melt"]);
    expect(names({ filter: "gallium boil" })).toEqual([]);
  });
  it("has no share without decisions, and none that is not counted", () => {
    expect(decisionShare(tasks[2]!, columns.matched)).toBe(0);
    expect(decisionShare(tasks[0]!, columns.matched)).toBe(0.1);
    expect(decisionShare(tasks[0]!, emptyColumns(3).matched)).toBe(UNCOUNTED);
  });
  it("shows subsets; fallbacks as far as they are counted", () => {
    expect(names({ show: "fallback" })).toEqual(["boil"]);
    expect(names({ show: "fallback" }, null)).toEqual([]);
    expect(names({ show: "no-success", filter: "gallium" })).toEqual(["melt"]);
    expect(names({ show: "successes" })).toEqual([]);
    expect(names({ show: "scored" })).toEqual([]);
  });
  it("sorts by mean Δ with the scored tasks first, either way", () => {
    const delta = (mean: number) => ({ decisions: 1, tokens: 1, mean });
    const scored = new Map([
      [taskKey("scienceworld", "grow"), delta(-1)],
      [taskKey("scienceworld", "melt"), delta(2)],
    ]);
    const by = (descending: boolean) =>
      visibleTasks(tasks, null, { filter: "", sort: "delta", descending }, scored).map(({ task }) => task);
    expect(by(true)).toEqual(["melt", "grow", "boil"]);
    expect(by(false)).toEqual(["grow", "melt", "boil"]);
  });
});
