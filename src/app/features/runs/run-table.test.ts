import { expect, it } from "vitest";
import { NO_FIGURES, type Run, type RunPoint } from "../../compute/runs/run.ts";
import { newRun } from "../../compute/runs/runs-store.ts";
import { columnsFor, groupRuns, sortRuns, withTags } from "./run-table.ts";

const run = (id: string, config: Record<string, unknown>, loss?: number): Run => ({
  ...newRun({
    ...{ id: `page-${id.padStart(12, "0")}`, where: "page", title: `run ${id}` },
    created: `2025-01-0${id}T00:00:00.000Z`,
    config: { teacher: "t", student: "s", episodes: "e", library: "l", ...config },
  }),
  figures: { ...NO_FIGURES, points: loss === undefined ? [] : [{ step: 1, stage: 0, loss } as RunPoint] },
});

const RUNS = [
  run("1", { settings: { learning_rate: 0.001 }, seed: 1 }, 0.5),
  run("2", { settings: { learning_rate: 0.001 } }),
  run("3", { settings: { learning_rate: 0.00001 } }, -2),
];
const { columns } = columnsFor(RUNS, false);
const column = (key: string) => columns.find((each) => each.key === key)!;
const ids = (runs: readonly Run[]) => runs.map(({ id }) => id.at(-1)).join("");
const FIRST = RUNS[0]!.id;
const THIRD = RUNS[2]!.id;

it("has what differs between the configs as columns, and the rest only when asked for", () => {
  expect(columns.map(({ title }) => title)).toEqual([
    ...["run", "where", "state", "Learning rate", "Seed", "steps", "loss", "started"],
  ]);
  expect(column("config seed").isNumber).toBe(true);
  const many = [0, 1].map((n) =>
    run(String(n), {
      ...{ seed: n, batch_size: n + 1, checkpoint_every: n + 1, keep_checkpoints: n + 1 },
      settings: { learning_rate: n, clip: (n + 1) / 10, beta1: n },
    }),
  );
  expect(columnsFor(many, false)).toMatchObject({ left: 2 });
  expect(columnsFor(many, true)).toMatchObject({ left: 0 });
});

it("names by their keys what the form calls the same", () => {
  const configs = [0.5, 1].map((temperature) =>
    run(String(2 * temperature), { sample: { temperature }, evaluate: { temperature } }),
  );
  const titles = columnsFor(configs, true).columns.map(({ title }) => title);
  expect(titles.slice(3, -3)).toEqual(["sample.temperature", "evaluate.temperature"]);
});

it("has settings before files, which a worker names in its own way", () => {
  const there = { library: "/l", episodes: "/e", teacher: "/t", student: "/s", tokenizer: "/k" };
  const { columns: both, left } = columnsFor([RUNS[0]!, run("4", there)], false);
  const titles = both.map(({ title }) => title);
  expect(titles.slice(3, -3)).toEqual(["Learning rate", "Seed", "Library", "Episodes", "Teacher"]);
  expect(left).toBe(2);
});

it("counts the episodes of a run in its cell, and groups by which they are", () => {
  const of = [["a"], ["a", "b"], ["c", "d"]].map((ids, n) => run(String(n), { episode_ids: ids }));
  const { columns } = columnsFor([...of, run("4", {})], false);
  const episodes = columns.find(({ key }) => key === "config episode_ids")!;
  expect([...of, run("4", {})].map(episodes.short!)).toEqual(["1 episode", "2 episodes", "2 episodes", ""]);
  expect(groupRuns(of, episodes.key, columns, {})).toHaveLength(3);
});

it("sorts by value, with what is unknown last either way", () => {
  expect(ids(sortRuns(RUNS, column("loss"), false))).toBe("312");
  expect(ids(sortRuns(RUNS, column("loss"), true))).toBe("132");
  expect(ids(sortRuns(RUNS, column("config settings.learning_rate"), false))).toBe("312");
  expect(ids(sortRuns(RUNS, column("started"), true))).toBe("321");
});

it("groups by a column, by config without its seed, and by tag", () => {
  const groups = (by: string, tags = {}) =>
    groupRuns(RUNS, by, columns, tags).map(({ title, runs }) => [title, ids(runs)]);
  expect(groups("")).toEqual([["", "123"]]);
  expect(groups("config")).toEqual([
    ["run 1", "12"],
    ["run 3", "3"],
  ]);
  expect(groups("config settings.learning_rate")).toEqual([
    ["Learning rate 0.001", "12"],
    ["Learning rate 0.00001", "3"],
  ]);
  expect(groups("tag", { [FIRST]: ["a", "b"], [THIRD]: ["a"] })).toEqual([
    ["a", "13"],
    ["b", "1"],
    ["no tag", "2"],
  ]);
});

it("keeps runs that have all of the wanted tags", () => {
  const tags = { [FIRST]: ["a", "b"], [THIRD]: ["a"] };
  expect(ids(withTags(RUNS, ["a"], tags))).toBe("13");
  expect(ids(withTags(RUNS, ["a", "b"], tags))).toBe("1");
  expect(ids(withTags(RUNS, [], tags))).toBe("123");
});
