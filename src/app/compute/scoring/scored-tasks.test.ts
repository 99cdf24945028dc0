import { expect, test } from "vitest";
import { scoredSide, tokenScores } from "../../../../test/support/token-scores.ts";
import { taskKey } from "../../../core/record/library.ts";
import { scoreKey } from "../../data/score-key.ts";
import { scoredTasks } from "./scored-tasks.ts";

const key = (task: string, decision: number, selection: object, library = "library-1", endOfTurn = true) =>
  scoreKey({ library, environment: "scienceworld", task, episode: "e", decision, selection, endOfTurn });

const scored = (vanilla: number[], graph: number[]) =>
  tokenScores(scoredSide("vanilla", vanilla), scoredSide("graph", graph));

test("the mean is over all tokens of a task's decisions, of one selection", () => {
  const scores = {
    [key("boil", 0, {})]: scored([-1, -1], [-0.5, -1]),
    [key("boil", 0, {}, "library-2")]: scored([-9], [-1]),
    [key("boil", 2, {}, "library-1", false)]: scored([-9], [-1]),
    [key("boil", 1, {})]: scored([-2], [-3]),
    [key("boil", 1, { control: "success-only" })]: scored([-2], [0]),
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
