import { expect, it } from "vitest";
import { experimentConfigSchema, methodEntrySchema } from "./experiment-config.ts";
import { experimentGrid } from "./experiment-grid.ts";
import { taskNotes } from "./experiment-notes.ts";

const GAMES = { name: "alfworld", games: "games" };
const TRAINED =
  "alfworld: tasks of the training are among its tasks, so its figures are not of unseen tasks alone.";
const CHOSEN =
  "alfworld, best: the checkpoint is chosen by episodes of these tasks and seeds, so its figures are the maximum over checkpoints, and biased upwards.";

function notes(more: object): string[] {
  const config = {
    ...experimentConfigSchema.parse({ environment: GAMES, teacher: "t", student: "s", ...more }),
    methods: [methodEntrySchema.parse({ id: "opd" })],
  };
  return taskNotes(
    config,
    experimentGrid(config, (name) => name),
  );
}

it("says that tasks are trained on, unless they come from elsewhere or are named apart", () => {
  expect(notes({})).toEqual([TRAINED]);
  expect(notes({ evaluate: { environment: { name: "alfworld", games: "unseen" } } })).toEqual([]);
  const listed = (trained: string[], measured: string[]) =>
    notes({
      environment: { ...GAMES, tasks: trained },
      evaluate: { environment: { ...GAMES, tasks: measured } },
    });
  expect(listed(["a", "b"], ["c"])).toEqual([]);
  expect(listed(["a", "b"], ["c", "b"])).toEqual([TRAINED]);
  const goals = (first: number) => ({ name: "webshop", server: "http://shop", goals: { first, count: 10 } });
  expect(notes({ environment: goals(0), evaluate: { environment: goals(10) } })).toEqual([]);
  expect(notes({ environment: goals(0), evaluate: { environment: goals(9) } })).toEqual([
    TRAINED.replace("alfworld", "webshop"),
  ]);
});

it("says that the best checkpoint is chosen by the episodes that it is measured on", () => {
  const best = (train: object, evaluate: object) =>
    notes({ checkpoints: ["best"], train: { evaluate: { every: 1, ...train } }, evaluate });
  const unseen = { environment: { name: "alfworld", games: "unseen" } };
  expect(best({}, {})).toEqual([TRAINED, CHOSEN]);
  expect(best(unseen, unseen)).toEqual([CHOSEN]);
  expect(best({ ...unseen, seeds: [7] }, unseen)).toEqual([]);
  expect(best({ ...unseen, tasks: ["a"] }, { environment: { ...unseen.environment, tasks: ["b"] } })).toEqual(
    [],
  );
});
