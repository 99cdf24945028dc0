/** The episodes of a collection (Section 3.2) and of an evaluation: what is played, and the record of it. */
import { environmentRules } from "../environment/environment.ts";
import type { Environment } from "../ports.ts";
import type { Episode, EpisodeDecision, Source } from "../record/schema.ts";
import { plannedSource, playedSource, type SourceName, verified } from "./collect.ts";
import type { CollectConfig, EvaluateConfig, PlayConfig } from "./live-config.ts";
import { type Played, type PlayTask, playedEpisode } from "./live-episode.ts";
import { type LiveTask, livePlay } from "./live-task.ts";

export interface PlannedEpisode<R> {
  id: string;
  /** What a model plays, and the record of it; or a record that is made without one, null where there is none. */
  how: ModelEpisode<R> | { make: () => Promise<R | null> };
}

export interface ModelEpisode<R> {
  task: PlayTask;
  record: (played: Played) => Promise<R>;
}

export interface TaskPlans {
  /** Actions that solve a task; null where its game has none. */
  plan(task: string): Promise<readonly string[] | null>;
}

/** How responses are drawn; the protocol's way where absent. */
export type Draws = Pick<PlayConfig, "temperature" | "top_p" | "top_k">;

/**
 * The tasks in their order, each with its K repetitions by a model and then, where plans are executed, its plan. Each
 * record is verified by a replay in an environment of its own.
 *
 * @param model what the records call the model
 */
export function collectionEpisodes(
  { tasks, ...plans }: TaskPlans & { tasks: readonly LiveTask[] },
  { repetitions, planner, ...draws }: Pick<CollectConfig, "repetitions" | "planner"> & Draws,
  model: string,
): PlannedEpisode<Source>[] {
  const origin = { kind: "teacher", model } as const;
  const sampled = (live: LiveTask, repetition: number): PlannedEpisode<Source> => {
    const id = `${live.task}#${repetition}`;
    const task = withDraws(livePlay(live, "collect", { episode: id, repetition, seed: 0 }), draws);
    const name = { source: `teacher:${repetition}`, repetition, origin };
    const record = (played: Played) =>
      inOwnEnvironment(live, (environment) => verified(playedSource(played, name), environment));
    return { id, how: { task, record } };
  };
  return tasks.flatMap((live) => [
    ...Array.from({ length: repetitions }, (_, n) => sampled(live, n)),
    ...(planner ? [executedPlan(live, plans)] : []),
  ]);
}

function executedPlan(live: LiveTask, { plan }: TaskPlans): PlannedEpisode<Source> {
  const { kind, repetition } = environmentRules(live.environment).plan;
  const name: SourceName = { source: `${kind}:${repetition}`, repetition, origin: { kind } };
  const make = async () => {
    const actions = await plan(live.task);
    if (actions === null) return null;
    return inOwnEnvironment(live, (environment) => plannedSource(environment, live, actions, name));
  };
  return { id: `${live.task}#plan`, how: { make } };
}

/** Every task once for each seed; a record's `repetition` is its seed. */
export function evaluationEpisodes(
  tasks: readonly LiveTask[],
  { seeds, ...draws }: Pick<EvaluateConfig, "seeds"> & Draws,
): (PlannedEpisode<Episode> & { how: ModelEpisode<Episode> })[] {
  return seeds.flatMap((seed) =>
    tasks.map((live) => {
      const id = `${live.task}#${seed}`;
      const task = withDraws(livePlay(live, "evaluate", { episode: id, repetition: seed, seed: 0 }), draws);
      const record = async (played: Played) => {
        const { decisions, ...episode } = playedEpisode(played);
        return { ...episode, decisions: decisions.map(withoutIds), repetition: seed };
      };
      return { id, how: { task, record } };
    }),
  );
}

/** A decision with its texts: the ids and log-probabilities of a record that nobody trains on are left out. */
export function withoutIds(decision: EpisodeDecision): EpisodeDecision {
  const { prompt_ids: _, response_ids: __, rollout_logprobs: ___, ...rest } = decision;
  return rest;
}

/** A task with the draws that a config asks for in place of the protocol's. */
function withDraws(task: PlayTask, { temperature, top_p: topP, top_k: topK }: Draws): PlayTask {
  const { sampling } = task;
  return {
    ...task,
    sampling: {
      temperature: temperature ?? sampling.temperature,
      topP: topP ?? sampling.topP,
      topK: topK ?? sampling.topK,
    },
  };
}

async function inOwnEnvironment<T>(
  { open }: LiveTask,
  work: (environment: Environment) => Promise<T>,
): Promise<T> {
  const environment = await open();
  try {
    return await work(environment);
  } finally {
    await environment.close();
  }
}
