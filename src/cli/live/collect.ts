/** `gcopd collect`: K executions of each task by a teacher, and the executions of plans, as a library. */
import { type CollectConfig, collectionEpisodes } from "../../core/loop/index.ts";
import type { Source } from "../../core/record/schema.ts";
import { type PlayRunOptions, playRun } from "./play-run.ts";

/** Writes `sources.jsonl`: tasks in their order, each with its repetitions and then its plan. */
export async function collect(options: PlayRunOptions & { config: CollectConfig }): Promise<void> {
  const { config } = options;
  await playRun<Source>(
    {
      purpose: "collect",
      file: "sources.jsonl",
      inGroups: false,
      episodes: (games, model) => collectionEpisodes(games, config, model),
    },
    options,
  );
}
