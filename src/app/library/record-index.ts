/**
 * An index of record files by task: each line is read and checked once, then only its place is kept, so that a library
 * of any size is never parsed whole. One task is read back at a time.
 */
import { InputError } from "../../core/errors.ts";
import type { ImportedRecord } from "../../core/record/import/importer.ts";
import { taskKey } from "../../core/record/library.ts";
import { readAnyRecords } from "../../core/record/read.ts";
import type { Episode, Source } from "../../core/record/schema.ts";
import type { FileSummary, TaskRef } from "../model.ts";
import { type LineRef, LineStore, readLine } from "./line-store.ts";

/** One file to index. */
export interface RecordFile {
  name: string;
  bytes: number;
  open(): Promise<ReadableStream<Uint8Array>>;
}

interface IndexedTask extends TaskRef {
  sources: LineRef[];
  episodes: LineRef[];
}

/** The records of one task, in file order. */
export interface TaskRecords extends TaskRef {
  sources: Source[];
  episodes: Episode[];
}

export interface IndexProgress {
  file: string;
  records: number;
}

export class RecordIndex {
  readonly files: FileSummary[] = [];
  readonly #tasks = new Map<string, IndexedTask>();
  readonly #store = new LineStore();
  /** Where a source (within its task) or an episode (of all) was first seen, to name both places of a duplicate. */
  readonly #seen = new Map<string, string>();

  /**
   * Reads and checks all files. Throws `InputError` for the first fault, for a record of another kind, for an id that
   * two files share, and when there is neither a source nor an episode.
   */
  static async read(
    files: readonly RecordFile[],
    onProgress: (progress: IndexProgress) => void = () => {},
  ): Promise<RecordIndex> {
    const index = new RecordIndex();
    for (const file of files) await index.#add(file, onProgress);
    return index.#whole(files.map((file) => file.name).join(", "));
  }

  /**
   * Takes the records of an import, which were checked on the way; `name` stands for the files. Scores have no place
   * in a library and are passed over: the import's report counts them. Throws `InputError` when there is neither a
   * source nor an episode.
   */
  static async fromImport(
    name: string,
    records: AsyncIterable<ImportedRecord>,
    onProgress: (progress: IndexProgress) => void = () => {},
  ): Promise<RecordIndex> {
    const index = new RecordIndex();
    const encoder = new TextEncoder();
    const counts = { sources: 0, episodes: 0 };
    let count = 0;
    for await (const imported of records) {
      if (imported.kind === "score") continue;
      const text = JSON.stringify(imported.record);
      index.#keep(imported.kind, imported.record, text, encoder.encode(text).length);
      counts[imported.kind === "source" ? "sources" : "episodes"] += 1;
      count += 1;
      if (count % 16 === 0) onProgress({ file: name, records: count });
    }
    index.#summarize(name, counts, 0);
    onProgress({ file: name, records: count });
    return index.#whole(name);
  }

  #whole(name: string): this {
    this.#store.seal();
    if (this.#tasks.size === 0) {
      throw new InputError("no record in it: expected lines of gcopd.source.v1 or gcopd.episode.v1", {
        file: name,
      });
    }
    return this;
  }

  #summarize(name: string, counts: { sources: number; episodes: number }, bytes: number): void {
    for (const kind of ["sources", "episodes"] as const) {
      if (counts[kind] > 0) this.files.push({ name, kind, records: counts[kind], bytes });
    }
  }

  #keep(
    kind: "source" | "episode",
    { environment, task }: Source | Episode,
    text: string,
    bytes: number,
  ): void {
    const key = taskKey(environment, task);
    let entry = this.#tasks.get(key);
    if (entry === undefined) {
      entry = { environment, task, sources: [], episodes: [] };
      this.#tasks.set(key, entry);
    }
    entry[kind === "source" ? "sources" : "episodes"].push(this.#store.append(text, bytes));
  }

  async #add(file: RecordFile, onProgress: (progress: IndexProgress) => void): Promise<void> {
    const counts = { sources: 0, episodes: 0 };
    let records = 0;
    for await (const { kind, record, text, line, bytes } of readAnyRecords(await file.open(), {
      file: file.name,
    })) {
      const where = { file: file.name, line };
      if (kind !== "source" && kind !== "episode") {
        throw new InputError(`a ${kind} record; the workbench opens sources and episodes`, where);
      }
      const { environment, task } = record as Source | Episode;
      const key = taskKey(environment, task);
      const id = kind === "source" ? [key, (record as Source).source] : [(record as Episode).episode];
      this.#unique(JSON.stringify([kind, ...id]), `${kind} ${id.at(-1)}`, where);
      this.#keep(kind, record as Source | Episode, text, bytes);
      counts[kind === "source" ? "sources" : "episodes"] += 1;
      records += 1;
      if (records % 64 === 0) onProgress({ file: file.name, records });
    }
    this.#summarize(file.name, counts, file.bytes);
    onProgress({ file: file.name, records });
  }

  #unique(id: string, name: string, where: { file: string; line: number }): void {
    const before = this.#seen.get(id);
    if (before !== undefined) throw new InputError(`${name} was already in ${before}`, where);
    this.#seen.set(id, `${where.file}, line ${where.line}`);
  }

  /** All tasks in the order in which they were first named. */
  get tasks(): TaskRef[] {
    return [...this.#tasks.values()].map(({ environment, task }) => ({ environment, task }));
  }

  /** Reads one task back. Its lines were checked when they were indexed. */
  async task(ref: TaskRef): Promise<TaskRecords> {
    const entry = this.#tasks.get(taskKey(ref.environment, ref.task));
    if (entry === undefined) throw new InputError(`the library has no task ${ref.task}`);
    const parse = async <T>(refs: readonly LineRef[]): Promise<T[]> =>
      Promise.all(refs.map(async (line) => JSON.parse(await readLine(line)) as T));
    return {
      environment: entry.environment,
      task: entry.task,
      sources: await parse<Source>(entry.sources),
      episodes: await parse<Episode>(entry.episodes),
    };
  }
}
