/** What a live run of the page plays: games that are open, or that are made when it starts. */
import { isMade, type MadeEnvironment } from "../../../core/environment/made-config.ts";
import { InputError } from "../../../core/errors.ts";
import {
  chosenTasks,
  type EnvironmentConfig,
  type EnvironmentName,
  namedTasks,
} from "../../../core/loop/live-config.ts";
import type { TrainConfig } from "../../../core/loop/train-config.ts";
import { gamesWorker } from "../clients.ts";
import type { LiveTraining, TrainingPlan } from "../worker/training-run.ts";
import { makeGames, openingProblem, openSimulatorTasks, useGames } from "./games.ts";

/**
 * The tasks of a live run; null for one over recorded episodes.
 *
 * @throws InputError for an environment whose games cannot be made, and for tasks that are not among the made ones
 */
export async function liveTraining({
  environment,
}: Pick<TrainConfig, "environment">): Promise<LiveTraining | null> {
  if (environment === undefined) return null;
  const { name, made } = environment;
  const all =
    made === undefined ? (namedTasks(environment) ?? []) : await gamesWorker().madeTasks(madeOf(name), made);
  const chosen = chosenTasks(environment, all);
  if (chosen.length === 0)
    throw new InputError("missing: name made games, or tasks of games that are open", {
      key: "environment.tasks",
    });
  return { environment, tasks: chosen };
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

/** The games that a run plays, as far as it takes to open them. */
interface PlayedGames {
  environment: Pick<EnvironmentConfig, "name" | "made">;
  tasks: readonly string[];
}

/**
 * Makes the games of a run where its config says how, and opens tasks of the worker's simulator, unless they are open
 * already.
 *
 * @throws InputError where a game is not open in the end
 */
export async function ensureGames({ environment: { name, made }, tasks }: PlayedGames): Promise<void> {
  if (missingGame(name, tasks) !== undefined) {
    const opened =
      name === "scienceworld"
        ? openSimulatorTasks(() => tasks)
        : made === undefined || makeGames(madeOf(name), made);
    if (!(await opened)) throw openingProblem();
  }
  const gone = missingGame(name, tasks);
  if (gone !== undefined)
    throw new InputError(`the game of ${JSON.stringify(gone)} is not open: open or make it in the Play view`);
}

/**
 * The games of a plan that begins or goes on, made where its config says how, with what distinguishes them from others.
 *
 * @throws InputError as `ensureGames` and `checkGames` do
 */
export async function withGames<P extends Pick<TrainingPlan, "live" | "evaluation">>(plan: P): Promise<P> {
  const opened = async (played: LiveTraining): Promise<LiveTraining> => {
    await ensureGames(played);
    return { ...played, games: await checkGames(played.environment.name, played.tasks, played.games) };
  };
  const { live, evaluation } = plan;
  return {
    ...plan,
    ...(live && { live: await opened(live) }),
    ...(evaluation && { evaluation: { ...evaluation, measured: await opened(evaluation.measured) } }),
  };
}

/**
 * @param begun what distinguished the games when the run began; absent where it begins now
 * @returns what distinguishes the open games of these tasks from others
 * @throws InputError where they are not those that the run began with
 */
export async function checkGames(
  environment: string,
  tasks: readonly string[],
  begun: string | undefined,
): Promise<string> {
  const digest = await gamesWorker().digest(environment, tasks);
  if (begun !== undefined && digest !== begun)
    throw new InputError(
      `the open games of ${environment} are not those that the run began with, though their tasks have the same names (SHA-256 ${begun.slice(0, 12)} then, ${digest.slice(0, 12)} now): open those first`,
    );
  return digest;
}

function missingGame(environment: EnvironmentName, tasks: readonly string[]): string | undefined {
  const games = useGames.getState().tasks.filter((game) => game.environment === environment);
  const open = new Set(games.map(({ task }) => task));
  return tasks.find((task) => !open.has(task));
}

/** @throws InputError for an environment whose games cannot be made */
function madeOf(name: EnvironmentName): MadeEnvironment {
  if (isMade(name)) return name;
  throw new InputError(`does not apply to ${name}: name its tasks`, { key: "environment.made" });
}
