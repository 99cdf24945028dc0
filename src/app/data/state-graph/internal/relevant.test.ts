import { expect, it } from "vitest";
import type { Execution, TaskModel } from "../../model.ts";
import { partOfTask, relevantStates } from "./relevant.ts";

const execution = (id: string, states: (number | null)[]) =>
  ({ id, cells: states.map((state) => ({ state })) }) as Execution;

// Two lines of states, 0 → 1 → 2 → 3 and 4 → 5 → 6 → 7, with a bridge from 1 to 5.
const edges = [
  [0, 1],
  [1, 2],
  [2, 3],
  [4, 5],
  [5, 6],
  [6, 7],
  [1, 5],
].map(([from, to]) => ({ from, to, transitions: 1, executions: 1, cycle: false }));
const layout = {
  column: [0, 1, 2, 3, 0, 1, 2, 3],
  row: [0, 0, 0, 0, 1, 1, 1, 1],
  columns: 4,
  rows: 2,
  lead: 0,
};
const task = {
  sources: [execution("above", [0, 1, 2, 3]), execution("below", [4, 5, 6, 7])],
  edges,
  layouts: { step: layout, cost: layout },
} as unknown as TaskModel;

const relevant = (student: (number | null)[], ...sources: string[]): number[] =>
  [...relevantStates(task, execution("student", student), new Set(sources))].sort();

it("the student's states and one step around them are relevant, in both directions", () => {
  expect(relevant([0])).toEqual([0, 1]);
  expect(relevant([null, 6])).toEqual([5, 6, 7]);
  expect(relevant([1])).toEqual([0, 1, 2, 5]);
  expect([...relevantStates(task, null, new Set())]).toEqual([]);
});

it("and so are those of the named sources", () => {
  expect(relevant([], "above")).toEqual([0, 1, 2, 3, 5]);
  expect(relevant([], "above", "below")).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  expect(relevant([0], "another library's")).toEqual([0, 1]);
});

it("the part of a task has the edges and columns of its states alone, under their numbers", () => {
  const part = partOfTask(task, "step", new Set([5, 6, 7]));
  expect(part.edges.map(({ from, to }) => [from, to])).toEqual([
    [5, 6],
    [6, 7],
  ]);
  const { column, row, columns, rows } = part.layouts.step;
  expect([5, 6, 7].map((state) => column[state])).toEqual([1, 2, 3]);
  expect([5, 6, 7].map((state) => row[state])).toEqual([0, 0, 0]);
  expect([columns, rows]).toEqual([4, 1]);
  expect(part.layouts.cost).toBe(task.layouts.cost);
});
