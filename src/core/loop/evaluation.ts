/** A student that is measured on fixed tasks every few steps while it is trained. */
import {
  type EvaluatedEpisode,
  type EvaluationResults,
  evaluatedEpisode,
  evaluationResults,
} from "../evaluation/index.ts";
import type { Sampler, WorkOptions } from "../ports.ts";
import type { Episode } from "../record/schema.ts";
import { sha256Hex } from "../seeded.ts";
import type { TextCodec } from "./codec.ts";
import type { LiveTask } from "./live-task.ts";
import { MemoryLog } from "./memory-log.ts";
import { type Draws, evaluationEpisodes } from "./planned-episodes.ts";
import { playPlanned } from "./play-planned.ts";

/** Measures the student of a training run before its first step, after every `every` steps, and after the last. */
export interface TrainingEvaluation {
  /** Optimizer steps between evaluations. */
  every: number;
  /** SHA-256 of all that decides the figures, the student apart. */
  fingerprint: string;
  /** @throws InputError when every task has an episode that ended for a technical reason */
  measure(student: Sampler, codec: TextCodec, options: WorkOptions): Promise<EvaluationResults>;
}

/**
 * Evaluation on tasks of a live environment, played as `gcopd evaluate` plays them. Nothing of it is left in the student:
 * what is sampled afterwards does not depend on it.
 *
 * @param digest of what decides the tasks, and of the draws where they are not the protocol's
 * @param onPlayed called with the episodes of each measurement
 */
export function liveEvaluation(
  tasks: readonly LiveTask[],
  {
    every,
    seeds,
    atOnce,
    digest,
    onPlayed,
    ...draws
  }: {
    every: number;
    seeds: number[];
    atOnce: number;
    digest: string;
    onPlayed?: (episodes: EvaluatedEpisode[]) => void;
  } & Draws,
): TrainingEvaluation {
  const planned = evaluationEpisodes(tasks, { seeds, ...draws });
  const described = planned.map(({ id, how: { task } }) => [id, task.maxDecisions, task.maxTokens]);
  return {
    every,
    fingerprint: sha256Hex(JSON.stringify([described, every, digest])),
    async measure(student, codec, { signal, onProgress }) {
      const log = new MemoryLog<Episode>();
      try {
        await playPlanned(planned, log, {
          inGroups: true,
          atOnce,
          onProgress: ({ decisions, most }) =>
            onProgress?.({ done: decisions, total: most, unit: "decisions" }),
          signal,
          withPolicy: (work) => work(student, codec),
        });
      } finally {
        student.forget?.();
      }
      const episodes = log.records(planned).map((record) => evaluatedEpisode(record));
      const results = evaluationResults(episodes);
      onPlayed?.(episodes);
      return results;
    },
  };
}
