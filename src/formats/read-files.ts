/** Whole files of records in memory: a library by task, episodes, retrieval records. */

import { groupSources, type Library } from "../core/record/library.ts";
import type { Episode, RetrievalRecord, Source } from "../core/record/schema.ts";
import type { ByteSource } from "./bytes.ts";
import { type ReadOptions, readRecords } from "./read.ts";

/** All sources of one file, by task. */
export async function readLibrary(bytes: ByteSource, options: ReadOptions): Promise<Library> {
  const sources: Source[] = [];
  for await (const { record } of readRecords(bytes, { ...options, kind: "source" })) sources.push(record);
  return groupSources(sources);
}

/** All episodes of one file, in order. */
export async function readEpisodes(bytes: ByteSource, options: ReadOptions): Promise<Episode[]> {
  const episodes: Episode[] = [];
  for await (const { record } of readRecords(bytes, { ...options, kind: "episode" })) episodes.push(record);
  return episodes;
}

/** All retrieval records of one file, in order. */
export async function readRetrievals(bytes: ByteSource, options: ReadOptions): Promise<RetrievalRecord[]> {
  const records: RetrievalRecord[] = [];
  for await (const { record } of readRecords(bytes, { ...options, kind: "retrieval" })) records.push(record);
  return records;
}
