/** What a config trains on, once its episodes are read. */
import { environmentRules } from "../environment/environment.ts";
import type { Episode } from "../record/schema.ts";
import { sha256Hex } from "../seeded.ts";
import { freshData, recordedData, type TrainingData } from "./data.ts";
import { liveEvaluation, type TrainingEvaluation } from "./evaluation.ts";
import { type LiveTask, liveRollout } from "./live-task.ts";
import { openRecorded } from "./recorded-environment.ts";
import type { RolloutTask } from "./rollout.ts";
import type { RunLengthsOptions } from "./run-lengths.ts";
import type { TrainConfig } from "./train-config.ts";

/**
 * The recorded responses; with `sample`, the tasks of the episodes, played again over them as environments.
 *
 * @throws InputError when there is no episode, or two share an id
 */
export function configuredData(
  { sample, seed }: Pick<TrainConfig, "sample" | "seed">,
  episodes: readonly Episode[],
): TrainingData {
  if (sample === undefined) return recordedData(episodes);
  const tasks = episodes.map((episode): RolloutTask => {
    const { limits, parseResponse } = environmentRules(episode.environment);
    return {
      episode: episode.episode,
      environment: episode.environment,
      task: episode.task,
      maxDecisions: sample.max_decisions ?? limits.decisions,
      maxTokens: sample.max_tokens ?? limits.responseTokens,
      open: async () => openRecorded(episode),
      seedText: ({ decision, policyVersion, seed: run }) =>
        `${episode.task}|${episode.episode}|${decision}|${policyVersion}|${run}`,
      parse: (response: string, observation: string) => parseResponse(response, observation).action,
    };
  });
  return freshData(tasks, { temperature: sample.temperature, seed });
}

/**
 * Tasks of a live environment, played afresh by the current student in every batch, at the temperature of training.
 *
 * @param digest of what decides the tasks
 * @param atOnce environments that can be open at the same time; a whole batch where it is absent
 * @throws InputError when there is no task
 */
export function liveData(
  tasks: readonly LiveTask[],
  { digest, atOnce, seed }: { digest: string; atOnce?: number; seed: number },
): TrainingData {
  const data = freshData(tasks.map(liveRollout), { temperature: 1, seed }, atOnce);
  return { ...data, fingerprint: sha256Hex(data.fingerprint + digest) };
}

/** Measures the student on tasks of a live environment, as `evaluate` of a config says. */
export function configuredEvaluation(
  { every, seeds, at_once }: NonNullable<TrainConfig["evaluate"]>,
  { tasks, digest, atOnce }: { tasks: readonly LiveTask[]; digest: string; atOnce: number },
): TrainingEvaluation {
  return liveEvaluation(tasks, { every, seeds, digest, atOnce: Math.min(at_once, atOnce) });
}

/** Limits of responses that are still to be drawn, for `runLengths`; undefined where the recorded ones are read. */
export function sampledLengths({
  sample,
  environment,
  evidence_tokens,
}: Pick<TrainConfig, "sample" | "environment" | "evidence_tokens">): RunLengthsOptions["sampled"] {
  const limits = sample ?? environment;
  if (limits === undefined) return undefined;
  return { responseTokens: limits.max_tokens, evidenceTokens: evidence_tokens };
}
