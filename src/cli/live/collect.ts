/** `gcopd collect`: K executions of each task by a teacher, and the executions of plans, as a library. */
import { join } from "node:path";
import { type CollectConfig, collectionEpisodes } from "../../core/loop/index.ts";
import { countOf } from "../../core/plural.ts";
import type { Source } from "../../core/record/schema.ts";
import { readRecords } from "../../formats/read.ts";
import { isThere } from "../../node/file-error.ts";
import { openBytes } from "../io.ts";
import { writeCatalog } from "../write-catalog.ts";
import { type PlayRunOptions, playRun } from "./play-run.ts";

const SOURCES = "sources.jsonl";

/**
 * Writes `sources.jsonl`: tasks in their order, each with its repetitions and then its plan.
 *
 * @param options.catalog writes the library as the authors' catalog too, in the folder `catalog`, unless that is there
 */
export async function collect({
  catalog = false,
  ...options
}: PlayRunOptions & { config: CollectConfig; catalog?: boolean }): Promise<void> {
  const { config, out, onNote } = options;
  const folder = join(out, "catalog");
  await playRun<Source>(
    {
      purpose: "collect",
      file: SOURCES,
      inGroups: false,
      episodes: (games, model) => collectionEpisodes(games, config, model),
      finish: async () => {
        onNote(`gcopd: the library is in ${join(out, SOURCES)}: ${await countsOf(join(out, SOURCES))}`);
        if (!catalog || isThere(folder)) return;
        await writeCatalog(join(out, SOURCES), folder);
        onNote(`gcopd: and as a catalog in ${folder}`);
      },
    },
    options,
  );
}

/** "9 executions of 3 tasks, 2 successful" */
async function countsOf(file: string): Promise<string> {
  const tasks = new Set<string>();
  let executions = 0;
  let successful = 0;
  for await (const { record } of readRecords(openBytes(file), { file, kind: "source" })) {
    tasks.add(record.task);
    executions++;
    if (record.outcome.success) successful++;
  }
  return `${countOf(executions, "execution")} of ${countOf(tasks.size, "task")}, ${successful} successful`;
}
