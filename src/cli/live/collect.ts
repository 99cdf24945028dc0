/** `gcopd collect`: K executions of each task by a teacher, and the executions of plans, as a library. */
import {
  type CollectConfig,
  type LiveTask,
  livePlay,
  plannedSource,
  playedSource,
  verified,
} from "../../core/loop/index.ts";
import type { Source } from "../../core/record/schema.ts";
import type { LiveGames } from "./open-games.ts";
import { modelName, type PlannedEpisode, type PlayRunOptions, playRun } from "./play-run.ts";
import { withSampling } from "./with-sampling.ts";

/** Writes `sources.jsonl`: tasks in their order, each with its repetitions and then its plan. */
export async function collect(options: PlayRunOptions & { config: CollectConfig }): Promise<void> {
  const { config } = options;
  const origin = { kind: "teacher", model: modelName(config.model) } as const;
  const sampled = (live: LiveTask, repetition: number): PlannedEpisode<Source> => {
    const id = `${live.task}#${repetition}`;
    const task = withSampling(livePlay(live, "collect", { episode: id, repetition, seed: 0 }), config);
    const name = { source: `teacher:${repetition}`, repetition, origin };
    const record = (played: Parameters<typeof playedSource>[0]) =>
      inOwnEnvironment(live, (environment) => verified(playedSource(played, name), environment));
    return { id, how: { task, record } };
  };
  const planned = (live: LiveTask, games: LiveGames): PlannedEpisode<Source> => ({
    id: `${live.task}#plan`,
    how: {
      make: async () => {
        const plan = await games.plan(live.task);
        if (plan === null) return null;
        const name = {
          source: `${games.planKind}:${games.planRepetition}`,
          repetition: games.planRepetition,
          origin: { kind: games.planKind },
        };
        return inOwnEnvironment(live, (environment) => plannedSource(environment, live, plan, name));
      },
    },
  });
  await playRun<Source>(
    {
      purpose: "collect",
      file: "sources.jsonl",
      inGroups: false,
      episodes: (games) =>
        games.tasks.flatMap((live) => [
          ...Array.from({ length: config.repetitions }, (_, n) => sampled(live, n)),
          ...(config.planner ? [planned(live, games)] : []),
        ]),
    },
    options,
  );
}

async function inOwnEnvironment<T>(
  { open }: LiveTask,
  work: (environment: Awaited<ReturnType<LiveTask["open"]>>) => Promise<T>,
): Promise<T> {
  const environment = await open();
  try {
    return await work(environment);
  } finally {
    await environment.close();
  }
}
