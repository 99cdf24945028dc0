import { expect, test } from "vitest";
import { gamesAmong } from "./dropped-games.ts";

const file = (path: string, text = "[]") => ({ path, file: new File([text], path) });

/** The paths of the games and of the rest. */
async function split(onPlayView: boolean, ...files: ReturnType<typeof file>[]) {
  const { games, rest } = await gamesAmong(files, onPlayView);
  return [games.map(({ path }) => path), rest.map(({ path }) => path)];
}

const WHAT_IF = JSON.stringify({ format: "gcopd.retrieval.v1", what_if: {} });

test.each([
  [false, ["a.tw-pddl", "sources.jsonl"], ["a.tw-pddl"], ["sources.jsonl"]],
  [true, ["t/game.tw-pddl", "t/traj_data.json", "t/initial_state.pddl"], ["t/game.tw-pddl"], []],
  [
    true,
    ["a.tw-pddl", "m/config.json", "m/model.safetensors"],
    ["a.tw-pddl"],
    ["m/config.json", "m/model.safetensors"],
  ],
  [true, ["shop.json", "other.JSON"], ["shop.json", "other.JSON"], []],
  [false, ["shop.json"], [], ["shop.json"]],
  [true, ["shop.json", "sources.jsonl"], [], ["shop.json", "sources.jsonl"]],
  [true, ["config.json"], [], ["config.json"]],
  [true, ["m/config.json", "m/tokenizer.json"], [], ["m/config.json", "m/tokenizer.json"]],
])("on the Play view: %s, %j", async (onPlayView, paths, games, rest) => {
  expect(await split(onPlayView, ...paths.map((path) => file(path)))).toEqual([games, rest]);
});

test("a what-if record is not a catalogue", async () => {
  expect(await split(true, file("what-if.json", WHAT_IF))).toEqual([[], ["what-if.json"]]);
});
