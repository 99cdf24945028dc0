import { expect, it } from "vitest";
import { InputError } from "../errors.ts";
import { type SelectedBy, selectSources, sourcesKey } from "./selection.ts";
import type { LibrarySubset } from "./subset.ts";

/** 400 tasks with two sampled successes, four failures and a planner record each. */
const TASKS = Array.from({ length: 400 }, (_, task) =>
  Array.from({ length: 7 }, (_, n): SelectedBy => {
    const origin = { kind: n < 6 ? "teacher" : "planner" };
    const outcome = { success: n < 2 || n === 6 };
    return { environment: "e", task: `t${task}`, source: `s${n}`, repetition: n, origin, outcome };
  }),
);

const kept = (subset: LibrarySubset, rest = {}) =>
  TASKS.map((all) => selectSources(all, { subset, ...rest }));
const successes = (sources: readonly SelectedBy[]) =>
  sources.filter(({ outcome, origin }) => outcome.success && origin.kind === "teacher").length;
const failures = (sources: readonly SelectedBy[]) => sources.filter(({ outcome }) => !outcome.success).length;
const sum = (values: readonly number[]) => values.reduce((all, value) => all + value, 0);

it("takes all successes of a task or none, of so many tasks, and no other record", () => {
  const drawn = kept({ successTasks: 0.25 });
  const left = drawn.map(successes);
  expect(new Set(left)).toEqual(new Set([0, 2]));
  const tasks = left.filter((n) => n > 0).length;
  // Binomial, 400 draws: three standard deviations are 26.
  expect(Math.abs(tasks - 100)).toBeLessThan(27);
  expect(drawn.every((sources) => failures(sources) === 4)).toBe(true);
  expect(drawn.every((sources) => sources.at(-1)!.origin.kind === "planner")).toBe(true);
});

it("draws each failure for itself, and leaves the successes", () => {
  const drawn = kept({ failures: 0.5 });
  // Binomial, 1,600 draws: three standard deviations are 60.
  expect(Math.abs(sum(drawn.map(failures)) - 800)).toBeLessThan(61);
  expect(new Set(drawn.map(failures)).size).toBe(5);
  expect(drawn.every((sources) => successes(sources) === 2)).toBe(true);
});

it("keeps nothing of a share of 0 and everything of a share of 1", () => {
  expect(kept({ successTasks: 0, failures: 0 }).every((sources) => sources.length === 1)).toBe(true);
  expect(kept({ successTasks: 1, failures: 1, seed: 5 })).toEqual(TASKS);
});

it("is nested: what a share keeps, a larger one keeps", () => {
  for (const [few, more] of [
    [{ successTasks: 0.3 }, { successTasks: 0.6 }],
    [{ failures: 0.3 }, { failures: 0.6 }],
  ] as const) {
    const larger = kept(more);
    for (const [n, sources] of kept(few).entries())
      expect(larger[n]).toEqual(expect.arrayContaining([...sources]));
  }
});

it("draws again with another seed, and the same whatever K and the other share are", () => {
  const tasksOf = (subset: LibrarySubset) => kept(subset).map((sources) => successes(sources) > 0);
  expect(tasksOf({ successTasks: 0.5, seed: 1 })).not.toEqual(tasksOf({ successTasks: 0.5 }));
  expect(tasksOf({ successTasks: 0.5, failures: 0.1 })).toEqual(tasksOf({ successTasks: 0.5 }));
  const few = kept({ failures: 0.5 }, { sourcesPerTask: 4, augmentation: false });
  for (const [n, sources] of kept({ failures: 0.5 }).entries())
    expect(few[n]).toEqual(sources.filter(({ repetition }) => repetition < 4));
});

it("counts a claimed success as one: with a task's successes it goes, too", () => {
  const claimed = { ...TASKS[0]![2]!, outcome: { success: false, reported_success: true } };
  expect(selectSources([claimed], { subset: { successTasks: 0 } })).toEqual([]);
  expect(selectSources([claimed], { subset: { failures: 0 } })).toEqual([claimed]);
});

it("has a name of its own only where it leaves something out", () => {
  expect(sourcesKey({ subset: { successTasks: 1, seed: 3 } })).toBe(sourcesKey({}));
  expect(sourcesKey({ subset: { failures: 0.5 } })).not.toBe(sourcesKey({}));
  expect(sourcesKey({ subset: { failures: 0.5, seed: 1 } })).not.toBe(
    sourcesKey({ subset: { failures: 0.5 } }),
  );
});

it("refuses what is no share", () => {
  for (const share of [-0.1, 1.1, Number.NaN]) {
    expect(() => selectSources([], { subset: { successTasks: share } })).toThrow(InputError);
    expect(() => selectSources([], { subset: { failures: share } })).toThrow("from 0 to 1");
  }
});
