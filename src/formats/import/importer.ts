/** What an importer of a foreign format is. Each lives in a folder or file of its own and is listed in importers.ts. */
import type { Episode, ScoreOutput, Source } from "../../core/record/schema.ts";
import type { ImportFiles } from "./files.ts";

/** One imported record, and the file (path in the folder) and line to look at when the record is wrong. */
export type ImportedRecord = { file: string; line?: number } & (
  | { kind: "source"; record: Source }
  | { kind: "episode"; record: Episode }
  | { kind: "score"; record: ScoreOutput }
);

/** How sure an importer is that it is meant. */
export interface Detection {
  /** 0 < confidence ≤ 1: 1 for a marker that nothing else has (a schema version), 0.5 for keys that merely fit. */
  confidence: number;
  /** What was recognised, for people: `a ScienceWorld catalog (MANIFEST.json and entries/)`. */
  what: string;
}

/** What an importer tells while it works. Counting of records is done for it. */
export interface ImportContext {
  signal?: AbortSignal;
  /**
   * The environment that the user says the recordings are of. An importer takes it where its format does not say one;
   * records of another are refused for all formats alike.
   */
  readonly environment?: string;
  /** A file (path in the folder) whose content is used. Files neither used nor skipped are reported as not used. */
  used(path: string): void;
  /** A file, or something that a file names, that gives no record, and why. */
  skip(path: string, reason: string): void;
  /** Something to know about what was imported. */
  warn(path: string, message: string, key?: string): void;
  /** Why this format has no state keys; its records then count as unaligned. */
  unaligned(reason: string): void;
}

/** One foreign format. */
export interface Importer {
  /** The name for `--format`. */
  readonly name: string;
  /** One line for `--help`. */
  readonly description: string;
  /**
   * Whether these files are of this format; undefined when not. Looks at names and at the beginning of few files,
   * never reads a whole tree, and never throws for strange content.
   */
  detect(files: ImportFiles): Promise<Detection | undefined>;
  /**
   * The records, one task (or one file) in memory at a time. Every fault of the content is one `InputError` that
   * names file and key; a file that the format's own rules tell to leave out goes to `context.skip`.
   */
  records(files: ImportFiles, context: ImportContext): AsyncIterable<ImportedRecord>;
}
