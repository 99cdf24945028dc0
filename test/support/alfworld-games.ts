/** Recorded ALFWorld games, with the domain and grammar that the recordings leave out put back in. */
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { gunzipSync } from "node:zlib";
import { Game, type GameFile } from "../../src/simulator/alfworld/game.ts";

// From the working folder: benchmarks are bundled, and their modules lie elsewhere.
const FIXTURES = resolve("test/fixtures");
export const LIVE = join(FIXTURES, "live/alfworld");

const text = (...path: string[]) => readFileSync(join(...path), "utf8");

/** Values of a gzipped file with one JSON value per line. */
export function rows<T>(...path: string[]): T[] {
  const lines = gunzipSync(readFileSync(join(FIXTURES, ...path)))
    .toString()
    .trimEnd()
    .split("\n");
  return lines.map((line) => JSON.parse(line) as T);
}

/** A game file with ALFWorld's own domain and grammar. */
export function alfworldGame(problem: string, goal: string): GameFile {
  return {
    pddl_domain: text(LIVE, "alfworld-0.4.2/alfred.pddl"),
    grammar: text(LIVE, "alfworld-0.4.2/alfred.twl2").replace("UNKNOWN GOAL", goal),
    pddl_problem: problem,
  };
}

/** The game file of one of fixtures/live; its task sentence is that of the recorded opening. */
export function liveGame(name: string, opening: string): GameFile {
  const goal = /Your task is to: (.*)\.$/.exec(opening)?.[1];
  if (goal === undefined) throw new Error(`${name}: the opening has no task sentence`);
  const { pddl_problem } = JSON.parse(text(LIVE, "games", name)) as { pddl_problem: string };
  return alfworldGame(pddl_problem, goal);
}

/** The games of test/fixtures/alfworld by task. */
export function recordedGames(): Map<string, Game> {
  const folder = join(FIXTURES, "alfworld/games");
  const games = readdirSync(folder).map((name): [string, Game] => {
    const { task, goal_text, pddl_problem } = JSON.parse(text(folder, name)) as Record<
      "task" | "goal_text" | "pddl_problem",
      string
    >;
    return [task, new Game(alfworldGame(pddl_problem, goal_text), name)];
  });
  const test = join(LIVE, "textworld-test-game");
  const file: GameFile = {
    pddl_domain: text(test, "domain.pddl"),
    grammar: text(test, "grammar.twl2"),
    pddl_problem: text(test, "problem.pddl"),
  };
  const plain = new Game(file, "textworld-test-game", { names: "ids" });
  return new Map([...games, ["textworld_fixture/look_at_obj_in_light-CD-DeskLamp/game.tw-pddl", plain]]);
}
