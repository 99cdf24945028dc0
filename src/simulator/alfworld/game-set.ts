import { InputError } from "../../core/errors.ts";
import { Lru } from "../../core/lru.ts";
import { sha256Bytes } from "../../core/seeded.ts";
import type { GameSet, GameText } from "../game-set.ts";
import { AlfworldEnvironment } from "./environment.ts";
import { type Game, type OpenOptions, openGame, readGameFile } from "./game.ts";

/** Ends of the names of game files. */
export const GAME_ENDING = ".tw-pddl";

/** Operators of the games that stay open, of which each takes 2 to 3 KiB: grounding a game takes longer than playing it. */
const KEPT = 128_000;

/**
 * Games by their tasks. A made game says its task itself; others are called by `name`: of their file, or their path in a
 * folder.
 *
 * @param onRead called after each file, for progress; it may throw to stop
 * @throws InputError for a file that is not a game, and for two games of one task
 */
export async function gamesByTask(
  files: readonly (GameText & { name: string })[],
  onRead: (done: number) => void = () => undefined,
): Promise<Map<string, GameText>> {
  const games = new Map<string, GameText>();
  for (const [n, game] of files.entries()) {
    const { label: file, name } = game;
    const { task: own } = readGameFile(await game.read(), file);
    const task = typeof own === "string" ? own : name;
    const before = games.get(task);
    if (before !== undefined)
      throw new InputError(`${before.label} has the same task name, ${JSON.stringify(task)}`, { file });
    games.set(task, game);
    onRead(n + 1);
  }
  return games;
}

/**
 * @param texts by task
 * @param options without a `hash` keys are made by WebCrypto
 */
export function alfworldGameSet(texts: ReadonlyMap<string, GameText>, options: OpenOptions = {}): GameSet {
  const games = new Lru<Promise<Game>>(KEPT);
  const opened = async (task: string): Promise<Game> => {
    const { label, read } = texts.get(task)!;
    return openGame(await read(), label, options);
  };
  const gameOf = (task: string): Promise<Game> =>
    games.getOrMake(task, () => {
      const game = opened(task);
      // How large it is shows when it is open; until then it counts as one.
      game.then(
        ({ task: { operators } }) => games.set(task, game, operators.length),
        () => games.delete(task),
      );
      return game;
    });
  return {
    environment: "alfworld",
    tasks: [...texts.keys()],
    open: () => new AlfworldEnvironment(gameOf, options.hash === undefined ? sha256Bytes : undefined),
    plan: async (task) => (await gameOf(task)).walkthrough,
    textOf: (task) => texts.get(task)!,
  };
}
