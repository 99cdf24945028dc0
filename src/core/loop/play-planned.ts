/** Planned episodes that are not played yet, over a log of those that are: a run that was interrupted goes on with it. */
import type { Sampler, WorkOptions } from "../ports.ts";
import type { TextCodec } from "./codec.ts";
import type { PlayEvent, Progress } from "./live-episode.ts";
import type { ModelEpisode, PlannedEpisode } from "./planned-episodes.ts";
import { play } from "./play.ts";

/** What was played so far, kept as it happens. */
export interface PlayLog<R extends object> {
  /** How many episodes have ended. */
  readonly ended: number;
  hasEnded(episode: string): boolean;
  /** An episode that has begun and not ended. */
  begun(episode: string): Progress | undefined;
  write(event: PlayEvent): void;
  /** @param record null where the episode gave none */
  end(episode: string, record: R | null): void | Promise<void>;
}

/** How far episodes are that a model plays. */
export interface PlayProgress {
  /** Episodes that have ended, of all. */
  done: number;
  total: number;
  /** Episodes that are being played. */
  underWay: number;
  /** Decisions of those that were played, with what they had before, and the most that there can be: an early end lowers it. */
  decisions: number;
  most: number;
}

/** Lends the model that plays to `work`. */
export type WithPolicy = (work: (sampler: Sampler, codec: TextCodec) => Promise<void>) => Promise<void>;

export interface PlayPlannedOptions extends Pick<WorkOptions, "signal"> {
  /**
   * Episodes are played in groups of `atOnce`, each group from its beginning to its end: one that was interrupted
   * begins again. What a device rounds can depend on the batch, so that only this repeats every draw on every device.
   * Otherwise an interrupted episode goes on with the decisions that it has.
   */
  inGroups: boolean;
  atOnce: number;
  /** Called after each record that needs no model, before each response of the model to all that run, and after each end. */
  onProgress: (progress: PlayProgress) => void;
  /** Called only where a model has something to play. */
  withPolicy: WithPolicy;
}

/** Plays what the log does not have. Records that need no model are made first. */
export async function playPlanned<R extends object>(
  planned: readonly PlannedEpisode<R>[],
  log: PlayLog<R>,
  { inGroups, atOnce, onProgress, signal, withPolicy }: PlayPlannedOptions,
): Promise<void> {
  const counts = { underWay: 0, decisions: 0, most: 0 };
  const tell = () => onProgress({ done: log.ended, total: planned.length, ...counts });
  const toPlay: ModelEpisode<R>[] = [];
  for (const { id, how } of planned) {
    signal?.throwIfAborted();
    if ("task" in how) toPlay.push(how);
    else if (!log.hasEnded(id)) {
      await log.end(id, await how.make());
      tell();
    }
  }
  const unplayed = ({ task }: ModelEpisode<R>): boolean => !log.hasEnded(task.episode);
  const groups = inGroups
    ? inParts(toPlay, atOnce).filter((group) => group.some(unplayed))
    : [toPlay.filter(unplayed)].filter(({ length }) => length > 0);
  if (groups.length === 0) return;
  const begunOf = (episode: string) => (inGroups ? undefined : log.begun(episode));
  for (const { task } of groups.flat()) {
    counts.decisions += begunOf(task.episode)?.decisions.length ?? 0;
    counts.most += task.maxDecisions;
  }
  const onPlayed = (event: PlayEvent): void => {
    // One that has decisions and starts did not repeat: they are made again.
    if (event.type === "start") counts.decisions -= begunOf(event.episode)?.decisions.length ?? 0;
    // An interrupted group begins again: of its episodes only the starts and ends are read.
    if (!inGroups || event.type === "start") log.write(event);
    if (event.type === "decision") counts.decisions += 1;
  };
  await withPolicy(async (policy, codec) => {
    const sampler: Sampler = {
      sample(requests, options) {
        counts.underWay = requests.length;
        tell();
        return policy.sample(requests, options);
      },
    };
    for (const group of groups) {
      if (inGroups) policy.forget?.();
      const recorders = new Map(group.map(({ task, record }) => [task.episode, record]));
      await play(
        group.map(({ task }) => {
          const begun = begunOf(task.episode);
          return begun === undefined ? task : { ...task, begun };
        }),
        sampler,
        codec,
        async (played) => {
          const { episode, maxDecisions } = played.task;
          await log.end(episode, await recorders.get(episode)!(played));
          // One that could not start was never under way.
          counts.underWay = Math.max(0, counts.underWay - 1);
          counts.most -= maxDecisions - played.decisions.length;
          tell();
        },
        { atOnce, onPlayed, signal },
      );
    }
  });
}

function inParts<T>(all: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(all.length / size) }, (_, n) => all.slice(n * size, (n + 1) * size));
}
