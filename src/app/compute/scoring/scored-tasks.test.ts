import { expect, test } from "vitest";
import { taskKey } from "../../../core/record/library.ts";
import { scoreKey } from "../../data/score-key.ts";
import { scoredTasks } from "./scored-tasks.ts";

const key = (task: string, decision: number, selection: object, library = "library-1", endOfTurn = true) =>
  scoreKey({ library, environment: "scienceworld", task, episode: "e", decision, selection, endOfTurn });

test("the mean is over all tokens of a task's decisions, of one selection", () => {
  const scores = {
    [key("boil", 0, {})]: { vanilla: Float32Array.of(-1, -1), graph: Float32Array.of(-0.5, -1) },
    [key("boil", 0, {}, "library-2")]: { vanilla: Float32Array.of(-9), graph: Float32Array.of(-1) },
    [key("boil", 2, {}, "library-1", false)]: { vanilla: Float32Array.of(-9), graph: Float32Array.of(-1) },
    [key("boil", 1, {})]: { vanilla: Float32Array.of(-2), graph: Float32Array.of(-3) },
    [key("boil", 1, { control: "success-only" })]: {
      vanilla: Float32Array.of(-2),
      graph: Float32Array.of(0),
    },
  };
  const asked = { selection: {}, endOfTurn: true };
  expect(scoredTasks(scores, asked, "library-1")).toEqual(
    new Map([[taskKey("scienceworld", "boil"), { decisions: 2, tokens: 3, mean: -0.5 / 3 }]]),
  );
  const success = scoredTasks(
    scores,
    { selection: { control: "success-only" }, endOfTurn: true },
    "library-1",
  );
  expect(success.get(taskKey("scienceworld", "boil"))!.mean).toBe(2);
  // The task of the same name of another library is another task.
  expect(scoredTasks(scores, asked, "library-2").get(taskKey("scienceworld", "boil"))!.mean).toBe(8);
  expect(scoredTasks(scores, asked, null).size).toBe(0);
});
