import { describe, expect, it } from "vitest";
import type { TaskSummary } from "../../model.ts";
import { matchedShare, visibleTasks } from "./sort-tasks.ts";

const task = (name: string, more: Partial<TaskSummary> = {}): TaskSummary => ({
  environment: "scienceworld",
  task: name,
  description: "",
  sources: 0,
  successes: 0,
  failures: 0,
  states: 0,
  sharedStates: 0,
  episodes: 0,
  episodesWon: 0,
  decisions: 0,
  matchedDecisions: 0,
  ...more,
});

const tasks = [
  task("melt", { sources: 3, decisions: 10, matchedDecisions: 1, description: "Melt the gallium" }),
  task("boil", { sources: 3, decisions: 2, matchedDecisions: 1 }),
  task("grow", { sources: 9 }),
];
const names = (place: Partial<Parameters<typeof visibleTasks>[1]>): string[] =>
  visibleTasks(tasks, { filter: "", sort: "task", descending: false, ...place }).map(({ task }) => task);

describe("visibleTasks", () => {
  it("sorts by each kind of column, ties by name", () => {
    expect(names({})).toEqual(["boil", "grow", "melt"]);
    expect(names({ sort: "sources" })).toEqual(["boil", "melt", "grow"]);
    expect(names({ sort: "sources", descending: true })).toEqual(["grow", "boil", "melt"]);
    expect(names({ sort: "matched", descending: true })).toEqual(["boil", "melt", "grow"]);
  });
  it("finds every word, in name or description", () => {
    expect(names({ filter: "GALLIUM melt" })).toEqual(["melt"]);
    expect(names({ filter: "gallium boil" })).toEqual([]);
  });
  it("has no share without decisions", () => {
    expect(matchedShare(task("x"))).toBe(0);
  });
});
