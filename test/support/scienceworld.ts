/** The ScienceWorld fixture, read whole: independent of the readers under test. A bundled program names its folder. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { gunzipSync } from "node:zlib";
import type { Episode, RetrievalRecord, Source } from "../../src/core/record/schema.ts";

const FOLDER = resolve(import.meta.dirname, "../fixtures/scienceworld");

function lines<T>(folder: string, name: string): T[] {
  const text = gunzipSync(readFileSync(resolve(folder, name))).toString("utf8");
  return text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as T);
}

export const fixtureSources = (folder = FOLDER): Source[] => lines<Source>(folder, "sources.jsonl.gz");
export const fixtureEpisodes = (folder = FOLDER): Episode[] => lines<Episode>(folder, "episodes.jsonl.gz");
export const fixtureRetrievals = (folder = FOLDER): RetrievalRecord[] =>
  lines<RetrievalRecord>(folder, "retrieval-expected.jsonl.gz");

/** Records by task id. */
export function byTask<T extends { task: string }>(records: readonly T[]): Map<string, T[]> {
  const tasks = new Map<string, T[]>();
  for (const record of records) {
    const group = tasks.get(record.task);
    if (group === undefined) tasks.set(record.task, [record]);
    else group.push(record);
  }
  return tasks;
}
