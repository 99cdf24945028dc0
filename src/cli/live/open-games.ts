/** A live environment of a config: its tasks, and an environment for each episode that runs. */
import { environmentRules } from "../../core/environment/environment.ts";
import { readPromptTemplate } from "../../core/environment/index.ts";
import { parseJsonText } from "../../core/json.ts";
import {
  chosenTasks,
  type EnvironmentConfig,
  type EnvironmentName,
  type LiveTask,
  namedTasks,
  taskOrigin,
} from "../../core/loop/index.ts";
import { sha256Hex } from "../../node/sha256.ts";
import { readText } from "../io.ts";
import { SIMULATORS } from "../play/simulators.ts";
import { filesDigest } from "../train/fingerprint.ts";
import type { GameFiles } from "./game-files.ts";
import { placeOfTask } from "./task-file.ts";

/** The tasks of a config, ready to be played. */
export interface LiveGames extends Pick<GameFiles, "plan" | "close"> {
  tasks: readonly LiveTask[];
  atOnce: number;
  /** Digest of everything that decides what the tasks are and what prompts say. */
  digest: string;
}

const openPlace = <Name extends EnvironmentName>(
  config: EnvironmentConfig & { name: Name },
): Promise<GameFiles> => SIMULATORS[config.name].games(taskOrigin(config), namedTasks(config));

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

async function templateOf({ name, prompt }: EnvironmentConfig) {
  if (prompt === undefined) return undefined;
  const value = parseJsonText(await readText(prompt), { file: prompt });
  return readPromptTemplate(value, environmentRules(name).prompt.lists, { file: prompt });
}
