/** Whole files of records in memory: a library by task, episodes, retrieval records. */
import type { ByteSource } from "./bytes.ts";
import { type ReadOptions, readRecords } from "./read.ts";
import type { Episode, RetrievalRecord, Source } from "./schema.ts";

/** D_x: all recorded executions of one task x. */
export interface TaskLibrary {
  environment: string;
  task: string;
  /** In file order. */
  sources: Source[];
}

export interface Library {
  /** In the order in which the file first names them. */
  tasks: TaskLibrary[];
}

/** One string for an environment and a task, to look tasks up by. */
export function taskKey(environment: string, task: string): string {
  return JSON.stringify([environment, task]);
}

/** The tasks of a library by `taskKey`. */
export function indexTasks(library: Library): Map<string, TaskLibrary> {
  return new Map(library.tasks.map((entry) => [taskKey(entry.environment, entry.task), entry]));
}

/** Groups sources by task, keeping the order of both. */
export function groupSources(sources: Iterable<Source>): Library {
  const tasks = new Map<string, TaskLibrary>();
  for (const source of sources) addSource(tasks, source);
  return { tasks: [...tasks.values()] };
}

function addSource(tasks: Map<string, TaskLibrary>, source: Source): void {
  const key = taskKey(source.environment, source.task);
  let entry = tasks.get(key);
  if (entry === undefined) {
    entry = { environment: source.environment, task: source.task, sources: [] };
    tasks.set(key, entry);
  }
  entry.sources.push(source);
}

/** All sources of one file, by task. */
export async function readLibrary(bytes: ByteSource, options: ReadOptions): Promise<Library> {
  const tasks = new Map<string, TaskLibrary>();
  for await (const { record } of readRecords(bytes, { ...options, kind: "source" })) addSource(tasks, record);
  return { tasks: [...tasks.values()] };
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
