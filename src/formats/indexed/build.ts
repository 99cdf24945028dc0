/** One streaming pass over a file of sources or episodes that keeps where each record is and what it says of itself. */
import { InputError } from "../../core/errors.ts";
import { taskKey } from "../../core/record/library.ts";
import type { Episode, Source } from "../../core/record/schema.ts";
import { hasUnknownOutcome } from "../../core/record/standing.ts";
import type { OnUnreadable } from "../../core/record/unreadable.ts";
import { type ByteSource, byteChunks } from "../bytes.ts";
import { FORMATS } from "../kinds.ts";
import { type ByteLine, LineDecoder, LineSplitter } from "../lines.ts";
import { checkAnyRecord, parseObject, type ReadOptions } from "../read.ts";
import { Scanner } from "./scan.ts";
import type { LibraryIndex, Outline, RecordEntry, TaskEntry } from "./types.ts";
import { unreadable } from "./unreadable.ts";

export interface BuildIndexOptions extends ReadOptions {
  /** Refuse records of the other kind. Both are taken when absent. */
  kind?: Outline["kind"];
  onProgress?: (progress: { bytes: number; records: number }) => void;
  /** Takes lines that are neither a source nor an episode, which are then in no task. */
  onUnreadable?: OnUnreadable;
}

/** The same outline as `Scanner` gives, from a checked record. */
export function outlineOf(record: Source | Episode): Outline {
  const { complete, success, verified, score, ended, reported_success } = record.outcome;
  const unknown = hasUnknownOutcome(record);
  const shared = {
    environment: record.environment,
    task: record.task,
    description: record.task_description,
    decisions: record.decisions.length,
    complete,
    success,
    verified,
    ...(reported_success === undefined ? {} : { reported_success }),
    ...(unknown ? { outcome_unknown: true as const } : {}),
    score,
    ended,
  };
  if (record.format === "gcopd.episode.v1") return { kind: "episode", id: record.episode, ...shared };
  const { source, repetition, origin } = record;
  return { kind: "source", id: source, ...shared, repetition, origin: origin.kind };
}

/**
 * Indexes the lines of an uncompressed file. Only the top level of each record is looked at here; a record is checked
 * in full whenever it is read through the index. What the byte scanner cannot vouch for goes through the full reader, so
 * that faults are worded as everywhere: `InputError` for a line that is neither a source nor an episode, and for a repeated id.
 */
export async function buildIndex(bytes: ByteSource, options: BuildIndexOptions): Promise<LibraryIndex> {
  const builder = new IndexBuilder(options);
  const splitter = new LineSplitter(options.file);
  let size = 0;
  for await (const chunk of byteChunks(bytes)) {
    options.signal?.throwIfAborted();
    for (const line of splitter.lines(chunk)) builder.add(line);
    size += chunk.length;
    options.onProgress?.({ bytes: size, records: builder.records });
  }
  for (const line of splitter.rest()) builder.add(line);
  return { bytes: size, tasks: builder.tasks };
}

/** Key by key: on every line of a large file, copying what is left of an outline would show. */
function entryOf(outline: Outline, { offset, bytes, line }: ByteLine): RecordEntry {
  const { id, decisions, complete, success, verified, score, ended } = outline;
  const { reported_success, outcome_unknown, repetition, origin } = outline;
  const entry: RecordEntry = {
    offset,
    bytes: bytes.length,
    line,
    id,
    decisions,
    complete,
    success,
    verified,
    score,
    ended,
  };
  if (reported_success !== undefined) entry.reported_success = reported_success;
  if (outcome_unknown !== undefined) entry.outcome_unknown = outcome_unknown;
  if (repetition !== undefined) entry.repetition = repetition;
  if (origin !== undefined) entry.origin = origin;
  return entry;
}

interface KnownTask {
  entry: TaskEntry;
  /** Line by id. */
  sources: Map<string, number>;
}

class IndexBuilder {
  readonly tasks: TaskEntry[] = [];
  records = 0;
  readonly #options: BuildIndexOptions;
  readonly #scanner = new Scanner();
  readonly #decoder: LineDecoder;
  readonly #byKey = new Map<string, KnownTask>();
  #lastTask: KnownTask | undefined;
  readonly #episodes = new Map<string, number>();

  constructor(options: BuildIndexOptions) {
    this.#options = options;
    this.#decoder = new LineDecoder(options.file);
  }

  add(line: ByteLine): void {
    let outline = this.#scanner.outline(line.bytes);
    if (outline !== null) this.#decoder.noteRecord();
    else {
      outline = unreadable(null, this.#options.onUnreadable, () => this.#readInFull(line));
      if (outline === null) return;
    }
    const { kind, environment, task, description, id } = outline;
    const where = { file: this.#options.file, line: line.line };
    if (this.#options.kind !== undefined && kind !== this.#options.kind) {
      throw new InputError(
        `this is a record of kind ${kind}; expected ${JSON.stringify(FORMATS[this.#options.kind])}`,
        { ...where, key: "format" },
      );
    }
    const known = this.#taskOf(environment, task, description);
    const ids = kind === "source" ? known.sources : this.#episodes;
    const earlier = ids.get(id);
    if (earlier !== undefined) {
      const name = `${kind} ${JSON.stringify(id)}${kind === "source" ? ` of task ${JSON.stringify(task)}` : ""}`;
      throw new InputError(`${name} is already on line ${earlier}; ids must be unique`, {
        ...where,
        key: kind,
      });
    }
    ids.set(id, line.line);
    const entry = entryOf(outline, line);
    (kind === "source" ? known.entry.sources : known.entry.episodes).push(entry);
    this.records++;
  }

  #taskOf(environment: string, task: string, description: string): KnownTask {
    const last = this.#lastTask?.entry;
    if (this.#lastTask !== undefined && last?.task === task && last.environment === environment) {
      return this.#lastTask;
    }
    const key = taskKey(environment, task);
    let known = this.#byKey.get(key);
    if (known === undefined) {
      known = { entry: { environment, task, description, sources: [], episodes: [] }, sources: new Map() };
      this.#byKey.set(key, known);
      this.tasks.push(known.entry);
    }
    this.#lastTask = known;
    return known;
  }

  /** Null for a blank line. */
  #readInFull(line: ByteLine): Outline | null {
    const text = this.#decoder.decode(line);
    if (text === undefined) return null;
    const where = { file: this.#options.file, line: line.line };
    const { kind, record } = checkAnyRecord(parseObject(text, where), where);
    if (kind !== "source" && kind !== "episode") {
      throw new InputError(`a ${kind} record; expected a source or an episode`, { ...where, key: "format" });
    }
    return outlineOf(record as Source | Episode);
  }
}
