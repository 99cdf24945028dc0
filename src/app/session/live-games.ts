/** What a live run of the page plays: games that are open, or that are made when it starts. */
import { InputError } from "../../core/errors.ts";
import { chosenTasks, type EnvironmentConfig } from "../../core/loop/live-config.ts";
import type { TrainConfig } from "../../core/loop/train-config.ts";
import type { GameEnvironment } from "../../simulator/game-set.ts";
import { gamesWorker } from "../workers/clients.ts";
import type { LiveTraining, TrainingPlan } from "../workers/training-run.ts";
import { makeGames, useGames } from "./games.ts";

/**
 * The tasks of a live run; null for one over recorded episodes.
 *
 * @throws InputError for an environment that no page plays, and for tasks that are not among the made ones
 */
export async function liveTraining({
  environment,
}: Pick<TrainConfig, "environment">): Promise<LiveTraining | null> {
  if (environment === undefined) return null;
  const { made, tasks = [] } = environment;
  const name = playedHere(environment);
  const all = made === undefined ? tasks : await gamesWorker().madeTasks(name, made);
  return { environment, tasks: chosenTasks(environment, all) };
}

/**
 * How the student is measured; null where it is not.
 *
 * @throws InputError as `liveTraining` does
 */
export async function liveEvaluation({
  environment: own,
  evaluate,
}: Pick<TrainConfig, "environment" | "evaluate">): Promise<TrainingPlan["evaluation"] | null> {
  if (evaluate === undefined) return null;
  const { every, seeds, at_once, tasks, environment = own } = evaluate;
  if (environment === undefined) return null;
  const measured = await liveTraining({
    environment: tasks === undefined ? environment : { ...environment, tasks },
  });
  return measured && { every, seeds, at_once, measured };
}

/**
 * Makes the games of a run where its config says how, unless they are open already.
 *
 * @throws InputError where a game is not open in the end
 */
export async function ensureGames({ environment, tasks }: LiveTraining): Promise<void> {
  const name = playedHere(environment);
  const missing = (): string | undefined => {
    const open = new Set(useGames.getState().tasks.map((game) => `${game.environment} ${game.task}`));
    return tasks.find((task) => !open.has(`${name} ${task}`));
  };
  if (missing() === undefined) return;
  if (environment.made !== undefined && !(await makeGames(name, environment.made))) {
    const { problem } = useGames.getState();
    throw new InputError(problem ?? "games are being opened: start the run when they are there");
  }
  const gone = missing();
  if (gone !== undefined)
    throw new InputError(`the game of ${JSON.stringify(gone)} is not open: open or make it in the Play view`);
}

/** @throws InputError for an environment that no page plays */
function playedHere({ name }: EnvironmentConfig): GameEnvironment {
  if (name === "scienceworld")
    throw new InputError("runs in Java, which no page does: start the run on the worker", {
      key: "environment.name",
    });
  return name;
}
