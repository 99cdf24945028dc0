import { expect, test } from "vitest";
import { taskKey } from "../../core/record/library.ts";
import { scoredTasks } from "./scored-tasks.ts";

const key = (task: string, decision: number, selection: object) =>
  JSON.stringify(["scienceworld", task, "e", decision, selection]);

test("the mean is over all tokens of a task's decisions, of one selection", () => {
  const scores = {
    [key("boil", 0, {})]: { vanilla: Float32Array.of(-1, -1), graph: Float32Array.of(-0.5, -1) },
    [key("boil", 1, {})]: { vanilla: Float32Array.of(-2), graph: Float32Array.of(-3) },
    [key("boil", 1, { control: "success-only" })]: {
      vanilla: Float32Array.of(-2),
      graph: Float32Array.of(0),
    },
  };
  expect(scoredTasks(scores, {})).toEqual(
    new Map([[taskKey("scienceworld", "boil"), { decisions: 2, tokens: 3, mean: -0.5 / 3 }]]),
  );
  expect(scoredTasks(scores, { control: "success-only" }).get(taskKey("scienceworld", "boil"))!.mean).toBe(2);
  expect(scoredTasks({}, {}).size).toBe(0);
});
