/** Importers of formats that live in single files of rows: each format says what its rows are, this does the rest. */
import { taskKey } from "../../../core/record/library.ts";
import { type ImportFile, type ImportFiles, label } from "../files.ts";
import type { Detection, ImportContext, ImportedRecord, Importer } from "../importer.ts";
import { type Peek, peek } from "./peek.ts";
import { type Row, readRows } from "./rows.ts";

/** What a format may use while it converts one file. */
export interface FileScope {
  /** Path in the folder. */
  path: string;
  /** As the file is called in messages. */
  file: string;
  context: ImportContext;
  /** The next n of `chat_<n>` and its like: rows are counted through all files, in the order of their paths. */
  nextRow(): number;
  /** The next n of `other:<n>`: a task's records are counted through all files, since methods limit it per task. */
  nextRepetition(environment: string, task: string): number;
}

/** One format whose files are rows. */
export interface RowFormat {
  name: string;
  description: string;
  /** What was recognised, for people. */
  what: string;
  /** Why records of this format have no state keys; absent when they have. */
  unaligned?: string;
  /** How sure the format is of a file that begins with this row: 0 for not at all, at most 0.9. */
  recognise(first: Record<string, unknown>): number;
  /** What the beginning of a file looks like whose first row is too long to be looked at whole. */
  head?: RegExp;
  records(rows: AsyncIterable<Row>, scope: FileScope): AsyncIterable<ImportedRecord>;
}

const CANDIDATE = /\.(jsonl?|ndjson|parquet|csv)(\.gz)?$/i;
/** Files looked at to tell the format of a folder. */
const LOOKED_AT = 8;

const peeks = new WeakMap<ImportFiles, Map<string, Promise<Peek | undefined>>>();

/** One look for all formats. Kept only for the few files that detection looks at. */
export function cachedPeek(files: ImportFiles, file: ImportFile): Promise<Peek | undefined> {
  let known = peeks.get(files);
  if (known === undefined) {
    known = new Map();
    peeks.set(files, known);
  }
  let found = known.get(file.path);
  if (found === undefined) {
    found = peek(files, file);
    known.set(file.path, found);
  }
  return found;
}

/** What a file begins with, as detection saw it or looked at now. */
export function lookAt(files: ImportFiles, file: ImportFile): Promise<Peek | undefined> {
  return peeks.get(files)?.get(file.path) ?? peek(files, file);
}

/** Files that may hold rows. A single file may have any name. */
export async function candidates(files: ImportFiles): Promise<readonly ImportFile[]> {
  const all = await files.list();
  return all.length === 1 ? all : all.filter(({ path }) => CANDIDATE.test(path));
}

/** The few files that tell the format of a folder. */
export async function firstCandidates(files: ImportFiles): Promise<readonly ImportFile[]> {
  return (await candidates(files)).slice(0, LOOKED_AT);
}

function confidenceOf(format: RowFormat, found: Peek | undefined): number {
  if (found === undefined || found.container === "csv") return 0;
  if (found.first !== undefined) return format.recognise(found.first);
  return format.head?.test(found.head) === true ? 0.5 : 0;
}

/** The importer of one row format. */
export function fileImporter(format: RowFormat): Importer {
  return {
    name: format.name,
    description: format.description,
    async detect(files): Promise<Detection | undefined> {
      const some = await firstCandidates(files);
      let sum = 0;
      for (const file of some) sum += confidenceOf(format, await cachedPeek(files, file));
      return sum === 0 ? undefined : { confidence: sum / some.length, what: format.what };
    },
    async *records(files, context) {
      let row = 0;
      const repetitions = new Map<string, number>();
      const nextRepetition = (environment: string, task: string): number => {
        const key = taskKey(environment, task);
        const next = repetitions.get(key) ?? 0;
        repetitions.set(key, next + 1);
        return next;
      };
      if (format.unaligned !== undefined) context.unaligned(format.unaligned);
      for (const file of await candidates(files)) {
        context.signal?.throwIfAborted();
        const found = await lookAt(files, file);
        // A single file that someone named the format for is read as that, so that its fault is told.
        const wanted = confidenceOf(format, found) > 0 || (await files.list()).length === 1;
        if (!wanted) continue;
        context.used(file.path);
        yield* format.records(
          readRows(files, found ?? { path: file.path, container: guess(file.path), head: "" }),
          { path: file.path, file: label(files, file.path), context, nextRow: () => row++, nextRepetition },
        );
      }
    },
  };
}

/** The container by the name, for a file whose beginning says nothing. */
function guess(path: string): Peek["container"] {
  if (/\.parquet$/i.test(path)) return "parquet";
  return /\.(jsonl|ndjson)(\.gz)?$/i.test(path) ? "lines" : "json";
}
