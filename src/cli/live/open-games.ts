/** A live environment of a config: its tasks, and an environment for each episode that runs. */
import { readdir, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { environmentRules } from "../../core/environment/environment.ts";
import { readPromptTemplate } from "../../core/environment/index.ts";
import { InputError } from "../../core/errors.ts";
import { parseJsonText } from "../../core/json.ts";
import {
  chosenTasks,
  type EnvironmentConfig,
  type LiveTask,
  namedTasks,
  taskPlace,
} from "../../core/loop/index.ts";
import { onFile } from "../../node/file-error.ts";
import { sha256Hex, sha256OfParts } from "../../node/sha256.ts";
import { alfworldGameSet, GAME_ENDING, gamesByTask } from "../../simulator/alfworld/game-set.ts";
import { GAME_PLANS, type GameText, textsDigest } from "../../simulator/game-set.ts";
import { type Made, madeGames, madeShops, madeText } from "../../simulator/made-games.ts";
import { readText } from "../io.ts";
import { gameFile } from "../play/open-game-file.ts";
import { filesDigest } from "../train/fingerprint.ts";
import type { GameFiles } from "./game-files.ts";
import { scienceWorldTasks } from "./scienceworld-tasks.ts";
import { shopGames } from "./shop-games.ts";
import { shopServer } from "./shop-server.ts";
import { placeOfTask } from "./task-file.ts";

/** The tasks of a config, ready to be played. */
export interface LiveGames extends Pick<GameFiles, "plan" | "planKind" | "planRepetition" | "close"> {
  tasks: readonly LiveTask[];
  atOnce: number;
  /** Digest of everything that decides what the tasks are and what prompts say. */
  digest: string;
}

/** A made game, as the file that `gcopd games` would write. */
const madeGameText = ({ name, make }: Made<object>): GameText => ({
  label: name,
  read: async () => madeText(make()),
});

async function openPlace(config: EnvironmentConfig): Promise<GameFiles> {
  const place = taskPlace(config);
  if ("simulator" in place) return scienceWorldTasks(place.simulator, namedTasks(config));
  if ("server" in place) return shopServer(place, namedTasks(config));
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
    const tasks = chosenTasks(config, games.tasks, (task) => placeOfTask(config.tasks, task));
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

function alfworldGames(texts: ReadonlyMap<string, GameText>): GameFiles {
  const games = alfworldGameSet(texts, { hash: sha256OfParts });
  return {
    ...games,
    ...GAME_PLANS.alfworld,
    digest: (tasks) => textsDigest(tasks.map(games.textOf)),
    close: async () => undefined,
  };
}

async function templateOf({ name, prompt }: EnvironmentConfig) {
  if (prompt === undefined) return undefined;
  const value = parseJsonText(await readText(prompt), { file: prompt });
  return readPromptTemplate(value, environmentRules(name).prompt.lists, { file: prompt });
}

/** The game files among paths, and in folders, where they are called by their path. */
async function gameFiles(paths: readonly string[]): Promise<Map<string, GameText>> {
  const files: (GameText & { name: string })[] = [];
  for (const path of paths) {
    if (!(await onFile(path, "read", stat(path))).isDirectory()) {
      files.push({ ...gameFile(path), name: basename(path) });
      continue;
    }
    const names = (await onFile(path, "read", readdir(path, { recursive: true })))
      .map((name) => name.replaceAll("\\", "/"))
      .filter((name) => name.endsWith(GAME_ENDING))
      .sort();
    if (names.length === 0)
      throw new InputError(`holds no game; expected files that end in ${GAME_ENDING}`, { file: path });
    for (const name of names) files.push({ ...gameFile(join(path, name)), name });
  }
  return gamesByTask(files);
}
