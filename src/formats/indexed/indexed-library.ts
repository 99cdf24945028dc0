/**
 * A file of sources, episodes or both, read one task or one record at a time through its index. Every record is checked
 * in full when it is read, and must be the one that the index has at that place.
 */
import { InputError } from "../../core/errors.ts";
import { taskKey } from "../../core/record/library.ts";
import type { Episode, Source } from "../../core/record/schema.ts";
import type { OnUnreadable } from "../../core/record/unreadable.ts";
import { type RangedReader, readExactly } from "../ranged-reader.ts";
import { checkRecord, parseObject } from "../read.ts";
import { outlineOf } from "./build.ts";
import type { LibraryIndex, Outline, RecordEntry, TaskEntry } from "./types.ts";
import { unreadable } from "./unreadable.ts";

export interface IndexedLibrary {
  /** Shown in messages. */
  readonly name: string;
  /** Rows of the library table, in the order in which the file first names the tasks. */
  readonly tasks: readonly TaskEntry[];
  readonly counts: { tasks: number; sources: number; episodes: number; decisions: number };
  /** Place of a task in `tasks`, or undefined. */
  find(environment: string, task: string): number | undefined;
  /**
   * D_x: all sources of the task at a place in `tasks`, in file order. `InputError` for a changed record, and for a bad
   * one unless `onUnreadable` takes it.
   */
  readTask(place: number, onUnreadable?: OnUnreadable): Promise<Source[]>;
  /** All episodes of the task at a place in `tasks`, in file order. Errors as those of `readTask`. */
  readEpisodes(place: number, onUnreadable?: OnUnreadable): Promise<Episode[]>;
  /** One episode by its id, or undefined where the file has none with that id. */
  readEpisode(id: string): Promise<{ episode: Episode; line: number } | undefined>;
  /** Ids of all episodes, in file order. */
  episodeIds(): string[];
}

/** Records that lie next to each other are read together, up to this many bytes at once. */
const RUN = 8 << 20;

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Opens a file through its index. Throws `InputError` when the index is of a file of another size. */
export function openIndexedLibrary(reader: RangedReader, index: LibraryIndex): IndexedLibrary {
  if (index.bytes !== reader.size) {
    throw new InputError(
      `has ${reader.size} bytes, its index is of a file of ${index.bytes}: index it again`,
      {
        file: reader.name,
      },
    );
  }
  const { tasks } = index;
  const places = new Map(tasks.map((entry, place) => [taskKey(entry.environment, entry.task), place]));
  let episodes: Map<string, { task: TaskEntry; entry: RecordEntry }> | undefined;
  /** Episodes by id, in file order; made when first asked for. */
  const byId = () => {
    episodes ??= new Map(
      tasks
        .flatMap((task) => task.episodes.map((entry) => ({ task, entry })))
        .sort((a, b) => a.entry.offset - b.entry.offset)
        .map((place) => [place.entry.id, place]),
    );
    return episodes;
  };
  const counts = { tasks: tasks.length, sources: 0, episodes: 0, decisions: 0 };
  for (const task of tasks) {
    counts.sources += task.sources.length;
    counts.episodes += task.episodes.length;
    for (const entry of task.sources) counts.decisions += entry.decisions;
    for (const entry of task.episodes) counts.decisions += entry.decisions;
  }
  const taskAt = (place: number): TaskEntry => {
    const task = tasks[place];
    if (task === undefined) throw new RangeError(`no task ${place} among ${tasks.length}`);
    return task;
  };
  return {
    name: reader.name,
    tasks,
    counts,
    find: (environment, task) => places.get(taskKey(environment, task)),
    readTask: async (place, onUnreadable) => {
      const task = taskAt(place);
      return readEntries(reader, task, task.sources, "source", onUnreadable);
    },
    readEpisodes: async (place, onUnreadable) => {
      const task = taskAt(place);
      return readEntries(reader, task, task.episodes, "episode", onUnreadable);
    },
    readEpisode: async (id) => {
      const found = byId().get(id);
      if (found === undefined) return undefined;
      const [episode] = await readEntries(reader, found.task, [found.entry], "episode");
      return { episode: episode!, line: found.entry.line };
    },
    episodeIds: () => [...byId().keys()],
  };
}

async function readEntries<K extends Outline["kind"]>(
  reader: RangedReader,
  task: TaskEntry,
  entries: readonly RecordEntry[],
  kind: K,
  onUnreadable?: OnUnreadable,
): Promise<(K extends "source" ? Source : Episode)[]> {
  type Read = K extends "source" ? Source : Episode;
  const records: Read[] = [];
  for (let first = 0; first < entries.length; ) {
    const start = entries[first]!.offset;
    let next = first + 1;
    let end = start + entries[first]!.bytes;
    // The line feed between two records is all that lies between them.
    while (next < entries.length && entries[next]!.offset === end + 1) {
      const after = entries[next]!.offset + entries[next]!.bytes;
      if (after - start > RUN) break;
      end = after;
      next++;
    }
    if (end > reader.size) throw changed(reader, entries[next - 1]!);
    const bytes = await readExactly(reader, start, end);
    for (const entry of entries.slice(first, next)) {
      const line = bytes.subarray(entry.offset - start, entry.offset - start + entry.bytes);
      // A line that is cut short or runs on is bytes of other records: say that the file changed, not that JSON is bad.
      if (line.includes(0x0a)) throw changed(reader, entry);
      const record = unreadable(kind, onUnreadable, () => readEntry(reader, entry, kind, line));
      if (record === null) continue;
      if (!isIndexed(record, task, entry)) throw changed(reader, entry);
      records.push(record as Read);
    }
    first = next;
  }
  return records;
}

function readEntry(
  reader: RangedReader,
  entry: RecordEntry,
  kind: Outline["kind"],
  bytes: Uint8Array,
): Source | Episode {
  const where = { file: reader.name, line: entry.line };
  let text: string;
  try {
    text = decoder.decode(bytes);
  } catch {
    throw new InputError("not valid UTF-8", where);
  }
  return checkRecord(kind, parseObject(text, where), where);
}

/** Whether a record says of itself what the index says of it. */
function isIndexed(record: Source | Episode, task: TaskEntry, entry: RecordEntry): boolean {
  const { kind: _, environment, task: id, description: __, ...found } = outlineOf(record);
  const { offset: ___, bytes: ____, line: _____, ...expected } = entry;
  return (
    environment === task.environment &&
    id === task.task &&
    (Object.keys({ ...found, ...expected }) as (keyof typeof found)[]).every(
      (key) => found[key] === expected[key],
    )
  );
}

function changed(reader: RangedReader, entry: RecordEntry): InputError {
  return new InputError(
    `is not the record ${JSON.stringify(entry.id)} that the index has here: index the file again`,
    {
      file: reader.name,
      line: entry.line,
    },
  );
}
