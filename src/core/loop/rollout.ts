/** Fresh student episodes, p_old ← p_θ (Eq. (7)). */
import { SPEND_ALL } from "../environment/protocol.ts";
import type { Sampler, WorkOptions } from "../ports.ts";
import type { Episode } from "../record/schema.ts";
import type { TextCodec } from "./codec.ts";
import { type PlayTask, playedEpisode } from "./live-episode.ts";
import { play } from "./play.ts";

/** One task to roll out, with the environment that answers. Every reply is a decision. */
export interface RolloutTask extends Omit<PlayTask, "sampling" | "replies" | "seedText"> {
  /** Text that a response's seed is made from; another one for each repetition of the task in a batch. */
  seedText(place: RolloutDraw): string;
}

/** The position of a response in a rollout. */
export interface RolloutDraw {
  decision: number;
  policyVersion: number;
  seed: number;
  /** 0 when absent. */
  repetition?: number;
}

export interface RolloutSettings {
  temperature: number;
  /** Seed of the run, and the number of updates that the student has had: both enter each response's seed. */
  seed: number;
  policyVersion: number;
}

/**
 * Samples one episode for each task; all of them advance together. An episode whose environment could not answer is
 * incomplete and unverified, and carries the reason as `technical_reason` of its outcome.
 *
 * @returns episodes in the order of the tasks
 */
export async function rollout(
  tasks: readonly RolloutTask[],
  sampler: Sampler,
  codec: TextCodec,
  { temperature, seed, policyVersion }: RolloutSettings,
  { signal, onProgress, atOnce }: WorkOptions & { atOnce?: number } = {},
): Promise<Episode[]> {
  const sampling = { temperature, topP: 1, topK: null };
  const playing = tasks.map(
    (task): PlayTask => ({
      ...task,
      sampling,
      replies: SPEND_ALL,
      seedText: ({ decision }) => task.seedText({ decision, policyVersion, seed }),
    }),
  );
  const episodes = new Map<PlayTask, Episode>();
  const most = Math.max(0, ...tasks.map(({ maxDecisions }) => maxDecisions));
  // Where not all run at the same time, there are more rounds of draws than an episode has decisions.
  const rounds = most * Math.ceil(tasks.length / Math.min(tasks.length, atOnce ?? tasks.length));
  let drawn = 0;
  const counting: Sampler = {
    async sample(requests, options) {
      const results = await sampler.sample(requests, options);
      drawn += 1;
      onProgress?.({ done: drawn, total: rounds, unit: "decisions" });
      return results;
    },
  };
  await play(
    playing,
    counting,
    codec,
    (played) => {
      episodes.set(played.task, playedEpisode(played));
    },
    { signal, ...(atOnce === undefined ? {} : { atOnce }) },
  );
  return playing.map((task) => episodes.get(task)!);
}
