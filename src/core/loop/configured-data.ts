/** What a config trains on, once its episodes are read. */
import { environmentRules } from "../environment/environment.ts";
import type { Episode } from "../record/schema.ts";
import { freshData, recordedData, type TrainingData } from "./data.ts";
import { RecordedEnvironment } from "./recorded-environment.ts";
import type { TrainConfig } from "./train-config.ts";

/**
 * The recorded responses; with `sample`, the tasks of the episodes, played anew over them as environments.
 *
 * @throws InputError when there is no episode, or two share an id
 */
export function configuredData(
  { sample, seed }: Pick<TrainConfig, "sample" | "seed">,
  episodes: readonly Episode[],
): TrainingData {
  if (sample === undefined) return recordedData(episodes);
  const limits = environmentLimits(episodes);
  const tasks = episodes.map((episode) => ({
    episode: episode.episode,
    environment: episode.environment,
    task: episode.task,
    taskDescription: episode.task_description,
    open: async () => new RecordedEnvironment(episode),
    parse: (response: string, observation: string) =>
      environmentRules(episode.environment).parseResponse(response, observation).action,
  }));
  return freshData(tasks, {
    maxDecisions: sample.max_decisions ?? Math.max(...limits.map(({ decisions }) => decisions)),
    maxTokens: sample.max_tokens ?? Math.max(...limits.map(({ responseTokens }) => responseTokens)),
    temperature: sample.temperature,
    seed,
  });
}

/** Lengths of responses that are still to be drawn, for `runLengths`; undefined where the recorded ones are read. */
export function sampledLengths(
  { sample, evidence_tokens }: Pick<TrainConfig, "sample" | "evidence_tokens">,
  episodes: readonly Episode[],
): { responseTokens: number; evidenceTokens?: number } | undefined {
  if (sample === undefined) return undefined;
  const limits = environmentLimits(episodes).map(({ responseTokens }) => responseTokens);
  return {
    responseTokens: sample.max_tokens ?? Math.max(0, ...limits),
    ...(evidence_tokens === undefined ? {} : { evidenceTokens: evidence_tokens }),
  };
}

function environmentLimits(episodes: readonly Episode[]) {
  const names = [...new Set(episodes.map(({ environment }) => environment))];
  return names.map((name) => environmentRules(name).limits);
}
