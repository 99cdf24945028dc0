/** The decisions that a run's config watches, read from their files. */
import { InputError } from "../../core/errors.ts";
import {
  namedFiles,
  type TextCodec,
  type TrainConfig,
  type Watch,
  watchedDecision,
} from "../../core/loop/index.ts";
import type { Episode } from "../../core/record/schema.ts";
import { allEpisodes } from "./records.ts";

/**
 * Null where a config watches none.
 *
 * @throws InputError for a bad record, and for a decision that the files do not have, with the key
 */
export async function readWatch(
  { watch, episodes, sample }: Pick<TrainConfig, "watch" | "episodes" | "sample">,
  configFile: string,
  {
    codec,
    recorded,
    tasks,
  }: {
    codec: TextCodec;
    /** What the run trains on: recorded episodes, if it reads any, and the tasks. */
    recorded: readonly Episode[];
    tasks: readonly { environment: string; task: string }[];
  },
): Promise<Watch | null> {
  if (watch === undefined) return null;
  const wanted = new Set(watch.decisions.map(({ episode }) => episode));
  const found = new Map<string, Episode>();
  for await (const episode of allEpisodes(namedFiles(watch.episodes ?? episodes)))
    if (wanted.has(episode.episode)) found.set(episode.episode, episode);
  const decisions = watch.decisions.map(({ episode: id, decision }, n) => {
    const at = { file: configFile, key: `watch.decisions[${n}]` };
    const episode = found.get(id);
    if (episode === undefined) throw new InputError(`among the episodes is no ${JSON.stringify(id)}`, at);
    // Other files may have another episode of the same id, and a run that samples does not train on what is recorded.
    const trained =
      sample === undefined &&
      recorded.some((each) => each.episode === id && JSON.stringify(each) === JSON.stringify(episode));
    const taskTrained = tasks.some(
      ({ environment, task }) => environment === episode.environment && task === episode.task,
    );
    try {
      return watchedDecision(episode, decision, { codec, trained, taskTrained });
    } catch (error) {
      throw error instanceof InputError ? new InputError(error.message, at) : error;
    }
  });
  return { every: watch.every, decisions };
}
