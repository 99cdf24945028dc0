/** The games worker as another worker sees it. */
import * as Comlink from "comlink";
import {
  environmentRules,
  type PromptTemplate,
  readPromptTemplate,
} from "../../../../core/environment/index.ts";
import type { EnvironmentConfig, LiveTask, TaskPlans } from "../../../../core/loop/index.ts";
import type { TaskName } from "../../../data/model.ts";
import type { PickedPrompt } from "../../runs/live-run.ts";
import type { GamesWorker } from "./games.worker.ts";
import { RemoteEnvironment } from "./remote-environment.ts";

let games: Comlink.Remote<GamesWorker> | null = null;

export function connectGames(port: MessagePort): void {
  games = Comlink.wrap<GamesWorker>(port);
}

export function connectedGames(): Comlink.Remote<GamesWorker> {
  if (games === null) throw new Error("the games worker is not connected");
  return games;
}

/** A task of the open games, as the loops play it. */
export function connectedTask({ environment, task }: TaskName): LiveTask {
  const open = async () => new RemoteEnvironment(connectedGames(), environment, "compute");
  return { environment, task, open };
}

/**
 * Tasks of the open games, as a config has them played.
 *
 * @param template in place of the environment's own
 */
export function openTasks(
  {
    name,
    max_decisions: maxDecisions,
    max_tokens: maxTokens,
  }: Pick<EnvironmentConfig, "name" | "max_decisions" | "max_tokens">,
  tasks: readonly string[],
  template?: PromptTemplate,
): LiveTask[] {
  return tasks.map((task) => ({
    ...connectedTask({ environment: name, task }),
    ...(template === undefined ? {} : { template }),
    maxDecisions,
    maxTokens,
  }));
}

/** A prompt template as it was picked; undefined for the environment's own. @throws InputError for one that is none */
export const templateOf = (
  environment: string,
  prompt: PickedPrompt | undefined,
): PromptTemplate | undefined =>
  prompt &&
  readPromptTemplate(prompt.template, environmentRules(environment).prompt.lists, { file: prompt.name });

/** The plans of the open games of an environment. */
export const connectedPlans = (environment: string): TaskPlans => ({
  plan: (task) => connectedGames().plan({ environment, task }),
});

/** How many episodes can be played in an environment at the same time, of those that were asked for. */
export async function playedAtOnce(environment: string, asked: number): Promise<number> {
  return Math.min(asked, await connectedGames().atOnce(environment));
}
