/** What an index keeps of a library or episode file (docs/library-format.md, "Index file"). */

/** What one record says about itself at its top level. */
export interface Outline {
  kind: "source" | "episode";
  environment: string;
  task: string;
  /** `task_description`. */
  description: string;
  /** Source id, or episode id. */
  id: string;
  /** Committed decisions. */
  decisions: number;
  complete: boolean;
  success: boolean;
  verified: boolean;
  reported_success?: boolean;
  /** Only where nobody recorded how the run ended: `success` false then stands for "unknown". */
  outcome_unknown?: true;
  score: number | null;
  ended: "environment" | "horizon" | "technical";
  /** Of sources only. */
  repetition?: number;
  /** `origin.kind`, of sources only. */
  origin?: string;
}

/** One record: its outline and its place. What all records of a task share is kept with the task. */
export interface RecordEntry extends Omit<Outline, "kind" | "environment" | "task" | "description"> {
  /** Byte offset of the record's line. */
  offset: number;
  /** Length of the line in bytes, without its line feed. */
  bytes: number;
  /** Line number from 1. */
  line: number;
}

/** One task: its records in file order. A row of the library table. */
export interface TaskEntry {
  environment: string;
  task: string;
  /** Of its first record. */
  description: string;
  sources: RecordEntry[];
  episodes: RecordEntry[];
}

/** What tells whether an index is of a file as it stands. */
export interface FileIdentity {
  bytes: number;
  /** As `RangedReader.modified`. */
  modified: number | null;
  /** See `sampleDigest`. */
  sample: string;
}

/** All tasks of a file, in the order in which it first names them. */
export interface LibraryIndex {
  /** Size of the file in bytes. */
  bytes: number;
  tasks: TaskEntry[];
}
