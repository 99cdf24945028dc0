/** A live environment of a config: its tasks, and an environment for each episode that runs. */
import { readdir, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { environmentRules } from "../../core/environment/environment.ts";
import { readPromptTemplate } from "../../core/environment/index.ts";
import { InputError } from "../../core/errors.ts";
import { parseJsonText } from "../../core/json.ts";
import { chosenTasks, type EnvironmentConfig, type LiveTask, taskPlace } from "../../core/loop/index.ts";
import type { Environment } from "../../core/ports.ts";
import { onFile } from "../../node/file-error.ts";
import { sha256Hex } from "../../node/sha256.ts";
import { AlfworldEnvironment } from "../../simulator/alfworld/environment.ts";
import { type Game, readGameFile } from "../../simulator/alfworld/game.ts";
import { type Made, madeGames, madeShops, madeText } from "../../simulator/made-games.ts";
import { readText } from "../io.ts";
import { type GameText, gameFile, openGameFile } from "../play/open-game-file.ts";
import { digestOfDigests, filesDigest } from "../train/fingerprint.ts";
import { scienceWorldTasks } from "./scienceworld-tasks.ts";
import { shopGames } from "./shop-games.ts";

/** The tasks that some files, or a simulator, hold. */
export interface GameFiles {
  tasks: readonly string[];
  /** An environment for one episode of a task. */
  open(task: string): Environment;
  /** Actions that solve a task, where its game has them. */
  plan(task: string): Promise<readonly string[] | null>;
  /** What records call the execution of a plan. */
  planKind: "planner" | "oracle";
  /** Their repetition, after those of sampled executions. */
  planRepetition: number;
  /** Digest of all that decides what these tasks are. */
  digest(tasks: readonly string[]): Promise<string>;
  /** Environments that can be open at the same time; any number when absent. */
  atOnce?: number;
  /** Ends what was started for them. */
  close(): Promise<void>;
}

/** The tasks of a config, ready to be played. */
export interface LiveGames extends Pick<GameFiles, "plan" | "planKind" | "planRepetition" | "close"> {
  tasks: readonly LiveTask[];
  atOnce: number;
  /** Digest of everything that decides what the tasks are and what prompts say. */
  digest: string;
}

const GAME = ".tw-pddl";
/** Games that stay open: grounding one takes longer than an episode in it. */
const KEPT = 64;

/** A made game, as the file that `gcopd games` would write. */
const madeGameText = ({ name, make }: Made<object>): GameText => ({
  label: name,
  read: async () => madeText(make()),
});

async function openPlace(config: EnvironmentConfig): Promise<GameFiles> {
  const place = taskPlace(config);
  if ("simulator" in place) return scienceWorldTasks(place.simulator, config.tasks);
  if (config.name === "webshop")
    return shopGames("made" in place ? madeShops(place.made).map(madeGameText) : place.games.map(gameFile));
  return alfworldGames(
    "made" in place
      ? new Map(madeGames(place.made).map((made) => [made.task, madeGameText(made)]))
      : await gameFiles(place.games),
  );
}

/**
 * Opens what a config plays in; close it in the end.
 *
 * @throws InputError for a game or template that cannot be read, two games of one name, and tasks that are not
 * there
 */
export async function openGames(config: EnvironmentConfig): Promise<LiveGames> {
  const games = await openPlace(config);
  try {
    const tasks = chosenTasks(config, games.tasks);
    const template = await templateOf(config);
    const prompt = config.prompt === undefined ? "" : await filesDigest([config.prompt]);
    return {
      ...games,
      tasks: tasks.map((task) => ({
        environment: config.name,
        task,
        open: async () => games.open(task),
        ...(template === undefined ? {} : { template }),
        ...(config.max_decisions === undefined ? {} : { maxDecisions: config.max_decisions }),
        ...(config.max_tokens === undefined ? {} : { maxTokens: config.max_tokens }),
      })),
      digest: sha256Hex((await games.digest(tasks)) + prompt),
      atOnce: games.atOnce ?? Number.POSITIVE_INFINITY,
    };
  } catch (error) {
    await games.close();
    throw error;
  }
}

function alfworldGames(files: ReadonlyMap<string, GameText>): GameFiles {
  const games = new Map<string, Promise<Game>>();
  const gameOf = (task: string): Promise<Game> => {
    const game = games.get(task) ?? openGameFile(files.get(task)!);
    games.delete(task);
    games.set(task, game);
    if (games.size > KEPT) games.delete(games.keys().next().value!);
    return game;
  };
  return {
    tasks: [...files.keys()],
    open: () => new AlfworldEnvironment(gameOf),
    plan: async (task) => (await gameOf(task)).walkthrough,
    planKind: "planner",
    planRepetition: 16,
    digest: async (tasks) => {
      const digests: string[] = [];
      for (const task of tasks) digests.push(sha256Hex(await files.get(task)!.read()));
      return digestOfDigests(digests);
    },
    close: async () => undefined,
  };
}

async function templateOf({ name, prompt }: EnvironmentConfig) {
  if (prompt === undefined) return undefined;
  const value = parseJsonText(await readText(prompt), { file: prompt });
  return readPromptTemplate(value, environmentRules(name).prompt.lists, { file: prompt });
}

/** Task to game file. A made game says its task itself; others are named by their file, or by their path in the folder. */
async function gameFiles(paths: readonly string[]): Promise<Map<string, GameText>> {
  const files = new Map<string, GameText>();
  const add = async (name: string, file: string): Promise<void> => {
    const text = gameFile(file);
    const { task: own } = readGameFile(await text.read(), file);
    const task = typeof own === "string" ? own : name;
    const before = files.get(task);
    if (before !== undefined)
      throw new InputError(`${before.label} has the same task name, ${JSON.stringify(task)}`, { file });
    files.set(task, text);
  };
  for (const path of paths) {
    if (!(await onFile(path, "read", stat(path))).isDirectory()) {
      await add(basename(path), path);
      continue;
    }
    const names = (await onFile(path, "read", readdir(path, { recursive: true })))
      .map((name) => name.replaceAll("\\", "/"))
      .filter((name) => name.endsWith(GAME))
      .sort();
    if (names.length === 0)
      throw new InputError(`holds no game; expected files that end in ${GAME}`, { file: path });
    for (const name of names) await add(name, join(path, name));
  }
  return files;
}
