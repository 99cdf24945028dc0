import { expect, test } from "vitest";
import { madeGames } from "../../../simulator/made-games.ts";
import { madeBy } from "./made-by.ts";

test("a made game is made again from its task's name", () => {
  const [game] = madeGames({ count: 1, seed: 41, size: "medium" });
  const made = madeBy({ environment: "alfworld", task: game!.task });
  expect(madeGames(made!).map(({ task, make }) => [task, make()])).toEqual([[game!.task, game!.make()]]);
});

test.each([
  ["alfworld", "pick_and_place_simple-Book/game.tw-pddl"],
  ["alfworld", "made/tiny/look_at_obj_in_light-1"],
  ["alfworld", "made/small/juggle-1"],
  ["webshop", "made/shop-1/goal0"],
])("no game of ours: %s %s", (environment, task) => {
  expect(madeBy({ environment, task })).toBeNull();
});
