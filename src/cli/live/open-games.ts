/** A live environment of a config: its tasks, and an environment for each episode that runs. */
import { readdir, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { environmentRules } from "../../core/environment/environment.ts";
import { readPromptTemplate } from "../../core/environment/index.ts";
import { InputError } from "../../core/errors.ts";
import { parseJsonText } from "../../core/json.ts";
import { chosenTasks, type EnvironmentConfig, type LiveTask } from "../../core/loop/index.ts";
import type { Environment } from "../../core/ports.ts";
import { sha256Hex } from "../../core/seeded.ts";
import { onFile } from "../../node/file-error.ts";
import { AlfworldEnvironment } from "../../simulator/alfworld/environment.ts";
import { type Game, readGameFile } from "../../simulator/alfworld/game.ts";
import { readText } from "../io.ts";
import { openGameFile } from "../play/open-game-file.ts";
import { filesDigest } from "../train/fingerprint.ts";
import { onlyKeys } from "./only-keys.ts";
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

const OPENERS: Record<EnvironmentConfig["name"], (config: EnvironmentConfig) => Promise<GameFiles>> = {
  alfworld: (config) => alfworldGames(pathsOf(config)),
  scienceworld: scienceWorldTasks,
  webshop: (config) => shopGames(pathsOf(config)),
};

function pathsOf(config: EnvironmentConfig): readonly string[] {
  const { games } = onlyKeys(config, "games");
  return typeof games === "string" ? [games] : games;
}

/**
 * Opens what a config plays in; close it in the end.
 *
 * @throws InputError for a game or template that cannot be read, two games of one name, and tasks that are not
 * there
 */
export async function openGames(config: EnvironmentConfig): Promise<LiveGames> {
  const games = await OPENERS[config.name](config);
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

async function alfworldGames(paths: readonly string[]): Promise<GameFiles> {
  const files = await gameFiles(paths);
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
    digest: (tasks) => filesDigest(tasks.map((task) => files.get(task)!)),
    close: async () => undefined,
  };
}

async function templateOf({ name, prompt }: EnvironmentConfig) {
  if (prompt === undefined) return undefined;
  const value = parseJsonText(await readText(prompt), { file: prompt });
  return readPromptTemplate(value, environmentRules(name).prompt.lists, { file: prompt });
}

/** Task to game file. A made game says its task itself; others are named by their file, or by their path in the folder. */
async function gameFiles(paths: readonly string[]): Promise<Map<string, string>> {
  const files = new Map<string, string>();
  const add = async (name: string, file: string): Promise<void> => {
    const { task: own } = readGameFile(await readText(file), file);
    const task = typeof own === "string" ? own : name;
    const before = files.get(task);
    if (before !== undefined)
      throw new InputError(`${before} has the same task name, ${JSON.stringify(task)}`, { file });
    files.set(task, file);
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
