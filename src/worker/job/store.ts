/** Jobs and their events in SQLite: each change and the event that tells of it are one transaction. */
import { chmodSync, closeSync, openSync, statSync } from "node:fs";
import Database from "libsql";
import { InputError } from "../../core/errors.ts";
import { plainLine } from "../../core/plain-text.ts";
import { fileError } from "../../node/file-error.ts";
import type { JobRequest } from "../../protocol/job.ts";
import type { JobEvent } from "../../protocol/job-event.ts";
import { JOB_STATES, type JobState } from "../../protocol/job-state.ts";
import { tell } from "../tell.ts";
import type { JobRecord } from "./job-record.ts";
import { DAMAGED, StoreFault, storeFault } from "./store-fault.ts";

/** Each entry brings the schema from version (its index) to the next. Never edit one that was released: add one. */
const MIGRATIONS = [
  `CREATE TABLE jobs (
     id TEXT PRIMARY KEY,
     state TEXT NOT NULL,
     lane TEXT NOT NULL,
     request TEXT NOT NULL,
     attempt INTEGER NOT NULL DEFAULT 0,
     message TEXT,
     progress TEXT,
     run TEXT,
     exit_code INTEGER,
     created_at TEXT NOT NULL,
     started_at TEXT,
     ended_at TEXT,
     queued_order INTEGER NOT NULL,
     output_offset INTEGER NOT NULL DEFAULT 0,
     fruitless INTEGER NOT NULL DEFAULT 0
   ) STRICT;
   CREATE INDEX jobs_by_state ON jobs (state, queued_order);
   CREATE TABLE events (
     id INTEGER PRIMARY KEY AUTOINCREMENT,
     job TEXT NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
     attempt INTEGER NOT NULL,
     at TEXT NOT NULL,
     type TEXT NOT NULL,
     data TEXT NOT NULL
   ) STRICT;
   CREATE INDEX events_by_job ON events (job, id);`,
  `DROP INDEX jobs_by_state;
   CREATE INDEX jobs_by_lane ON jobs (state, lane, queued_order);
   CREATE INDEX jobs_by_order ON jobs (queued_order);
   CREATE INDEX jobs_by_time ON jobs (created_at);
   CREATE INDEX jobs_by_state_and_time ON jobs (state, created_at);`,
];

/** Milliseconds to wait for another program's lock before it counts as a fault: nothing else is done meanwhile. */
const BUSY_MS = 100;

/** Bytes of the journal that stay on the disk after a large transaction. */
const JOURNAL_BYTES = 1 << 20;

/** What jobs wait for, each lane by itself. */
export const LANES = ["gpu", "cpu"] as const;
export type Lane = (typeof LANES)[number];

interface JobRow {
  id: string;
  state: JobState;
  lane: Lane;
  request: string;
  attempt: number;
  message: string | null;
  progress: string | null;
  run: string | null;
  exit_code: number | null;
  created_at: string;
  started_at: string | null;
  ended_at: string | null;
  output_offset: number;
  fruitless: number;
  last_event: number | null;
}

/** What the queue keeps of a job beside what users see. */
export interface StoredJob extends JobRecord {
  last_event: number;
  /** Jobs of one lane run one after the other. */
  lane: Lane;
  /** Bytes of the present attempt's output that are already events. */
  outputOffset: number;
}

/** Columns that a change of state may set beside it. */
export interface JobPatch {
  request?: JobRequest;
  message?: string | null;
  run?: string | null;
  exit_code?: number | null;
  started_at?: string | null;
  ended_at?: string | null;
  attempt?: number;
  output_offset?: number;
  fruitless?: number;
}

const SELECT = `SELECT id, state, lane, request, attempt, message, progress, run, exit_code, created_at, started_at,
  ended_at, output_offset, fruitless, (SELECT max(id) FROM events WHERE job = jobs.id) AS last_event FROM jobs`;
const NEXT_ORDER = "(SELECT coalesce(max(queued_order), 0) + 1 FROM jobs)";

/**
 * Every method throws a `StoreFault` when the file cannot be read or written; what it was to change is unchanged then.
 */
export class JobStore {
  readonly #db: Database.Database;
  readonly #file: string;
  #fault: { line: string; writing: boolean } | null = null;

  /** @throws InputError when the file may not be written, or a newer version wrote it; StoreFault when it cannot be used, or is damaged */
  constructor(file: string) {
    this.#file = file;
    this.#db = open(file);
    try {
      this.#db.pragma(`busy_timeout = ${BUSY_MS}`);
      this.#checkPages();
      this.#keepJournal();
      this.#db.pragma("synchronous = FULL");
      this.#db.pragma("foreign_keys = ON");
      this.#migrate();
      this.#checkContent();
    } catch (error) {
      this.#db.close();
      throw storeFault(error, file) ?? error;
    }
  }

  /** What keeps the file from being used at present, in one line; null when nothing does. */
  get fault(): string | null {
    return this.#fault?.line ?? null;
  }

  /** Version of the file's schema. */
  get version(): number {
    return (this.#db.prepare("PRAGMA user_version").get() as { user_version: number }).user_version;
  }

  #migrate(): void {
    const from = this.version;
    if (from > MIGRATIONS.length) {
      throw new InputError(`written by a newer gcopd (schema ${from}; this one knows ${MIGRATIONS.length})`, {
        file: this.#file,
      });
    }
    for (let version = from; version < MIGRATIONS.length; version++) {
      this.#transaction(() => {
        this.#orDamaged(() => this.#db.exec(MIGRATIONS[version]!));
        this.#db.exec(`PRAGMA user_version = ${version + 1}`);
      });
    }
  }

  #checkPages(): void {
    const [found] = this.#db.pragma("quick_check(1)") as { quick_check: string }[];
    if (found?.quick_check !== "ok") throw damaged(this.#file, found?.quick_check ?? "");
  }

  /**
   * Earlier versions kept a write-ahead log: where that cannot be read as it is brought into the file, libsql 0.5.29 writes
   * pages that it did not read and reports success.
   */
  #keepJournal(): void {
    const [before] = this.#db.pragma("journal_mode") as { journal_mode: string }[];
    this.#db.pragma("journal_mode = PERSIST");
    this.#db.pragma(`journal_size_limit = ${JOURNAL_BYTES}`);
    if (before?.journal_mode === "wal") this.#checkPages();
  }

  /** `quick_check` looks at pages. Missing tables and values that no job can have are damage, too. */
  #checkContent(): void {
    const states = JOB_STATES.map((state) => `'${state}'`).join(", ");
    const lanes = LANES.map((lane) => `'${lane}'`).join(", ");
    const bad = this.#orDamaged(() =>
      this.#db
        .prepare(
          `SELECT id FROM (${SELECT}) WHERE NOT json_valid(request) OR state NOT IN (${states})
             OR lane NOT IN (${lanes}) OR NOT json_valid(coalesce(progress, '{}'))
           UNION ALL SELECT job FROM events WHERE NOT json_valid(data) OR type NOT IN ('state', 'progress', 'output')
           LIMIT 1`,
        )
        .get(),
    ) as { id: string } | undefined;
    if (bad !== undefined) throw damaged(this.#file, `a row of job ${JSON.stringify(bad.id)} is not valid`);
  }

  /** `work`, where tables and columns that are not as they must be are damage. */
  #orDamaged<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      if (!(error instanceof Error) || !("code" in error) || error.code !== "SQLITE_ERROR") throw error;
      throw damaged(this.#file, error.message);
    }
  }

  /** All that is done with the file. Faults are told once, when they begin and when they are over. */
  #run<T>(work: () => T, writing = false): T {
    try {
      const result = work();
      // A full disk can still be read.
      if (this.#fault !== null && (writing || !this.#fault.writing)) {
        this.#fault = null;
        tell(`the list of jobs can be used again: ${this.#file}`);
      }
      return result;
    } catch (error) {
      const fault = storeFault(error, this.#file);
      if (fault === null) throw error;
      if (this.#fault?.line !== fault.message) tell(fault.message);
      this.#fault = { line: fault.message, writing };
      throw fault;
    }
  }

  #write<T>(work: () => T): T {
    return this.#run(() => this.#transaction(work), true);
  }

  /** All of `work`, or nothing of it. */
  #transaction<T>(work: () => T): T {
    // Left open where even rolling it back had failed.
    if (this.#db.inTransaction) this.#db.exec("ROLLBACK");
    this.#db.exec("BEGIN IMMEDIATE");
    try {
      const result = work();
      this.#db.exec("COMMIT");
      return result;
    } catch (error) {
      this.#rollBack();
      throw error;
    }
  }

  /** SQLite itself has rolled back after some faults; and the fault that came first is the one to tell. */
  #rollBack(): void {
    try {
      if (this.#db.inTransaction) this.#db.exec("ROLLBACK");
    } catch {
      // The next transaction begins with it.
    }
  }

  create(id: string, request: JobRequest): StoredJob {
    const at = new Date().toISOString();
    return this.#write(() => {
      this.#db
        .prepare(
          `INSERT INTO jobs (id, state, lane, request, created_at, queued_order)
           VALUES (?, 'queued', ?, ?, ?, ${NEXT_ORDER})`,
        )
        .run(id, laneOf(request), JSON.stringify(request), at);
      this.#insertState(id, { attempt: 0, at, state: "queued", message: null });
      return this.#read(id)!;
    });
  }

  /** Takes in a job of another list as it was there, with what its attempts printed. */
  restore(job: JobRecord, output: Iterable<Pick<JobEvent, "attempt" | "type" | "text">>): void {
    this.#write(() => {
      const { id, state, request, attempt, message, run, exit_code, created_at, started_at, ended_at } = job;
      this.#db
        .prepare(
          `INSERT INTO jobs (id, state, lane, request, attempt, message, progress, run, exit_code, created_at,
             started_at, ended_at, fruitless, queued_order)
           VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ${NEXT_ORDER})`,
        )
        .run(
          ...[id, state, laneOf(request), JSON.stringify(request), attempt, message],
          ...[job.progress === null ? null : JSON.stringify(job.progress), run, exit_code, created_at],
          ...[started_at, ended_at, job.fruitless],
        );
      const at = new Date().toISOString();
      for (const event of output) this.#insertEvent({ job: id, at, ...event });
      this.#insertState(id, { attempt, at, state, message });
    });
  }

  get(id: string): StoredJob | null {
    return this.#run(() => this.#read(id));
  }

  #read(id: string): StoredJob | null {
    const row = this.#db.prepare(`${SELECT} WHERE id = ?`).get(id) as JobRow | undefined;
    return row === undefined ? null : toJob(row);
  }

  /** Newest first. */
  list(filter: { state?: JobState; limit: number }): StoredJob[] {
    const where = filter.state === undefined ? "" : "WHERE state = ?";
    const values = filter.state === undefined ? [filter.limit] : [filter.state, filter.limit];
    const sql = `${SELECT} ${where} ORDER BY created_at DESC, rowid DESC LIMIT ?`;
    return this.#run(() => (this.#db.prepare(sql).all(...values) as JobRow[]).map(toJob));
  }

  /** All jobs in these states. */
  inStates(states: readonly JobState[]): StoredJob[] {
    const marks = states.map(() => "?").join(", ");
    const sql = `${SELECT} WHERE state IN (${marks})`;
    return this.#run(() => (this.#db.prepare(sql).all(...states) as JobRow[]).map(toJob));
  }

  /** Of the jobs that wait in a lane, the one that was queued first; null when none does. */
  firstQueued(lane: Lane): StoredJob | null {
    const sql = `${SELECT} WHERE state = 'queued' AND lane = ? ORDER BY queued_order LIMIT 1`;
    return this.#run(() => {
      const row = this.#db.prepare(sql).get(lane) as JobRow | undefined;
      return row === undefined ? null : toJob(row);
    });
  }

  /**
   * Moves a job from one of the states `from` to `to`; null, and nothing changed, when it is in none of them.
   *
   * @returns the job as it is then
   */
  transition(
    id: string,
    from: readonly JobState[],
    to: JobState,
    { request, ...patch }: JobPatch = {},
  ): StoredJob | null {
    return this.#write(() => {
      const before = this.#read(id);
      if (before === null || !from.includes(before.state)) return null;
      if (request !== undefined) this.#updateRequest(id, request);
      const values: Omit<JobPatch, "request"> = { message: null, ...patch };
      const columns = Object.keys(values).map((column) => `${column} = ?`);
      if (to === "queued") columns.push(`queued_order = ${NEXT_ORDER}`);
      this.#db
        .prepare(`UPDATE jobs SET state = ?, ${columns.join(", ")} WHERE id = ?`)
        .run(to, ...Object.values(values), id);
      const attempt = patch.attempt ?? before.attempt;
      const at = new Date().toISOString();
      this.#insertState(id, { attempt, at, state: to, message: values.message ?? null });
      return this.#read(id);
    });
  }

  /** Output lines as events, and how far the output is read: both or neither. */
  appendOutput(id: string, events: readonly Pick<JobEvent, "type" | "text">[], outputOffset: number): void {
    this.#write(() => {
      const { attempt } = this.#read(id)!;
      const at = new Date().toISOString();
      for (const event of events) this.#insertEvent({ job: id, attempt, at, ...event });
      this.#db.prepare("UPDATE jobs SET output_offset = ? WHERE id = ?").run(outputOffset, id);
      const progress = events.findLast((event) => event.type === "progress");
      if (progress === undefined) return;
      this.#db.prepare("UPDATE jobs SET progress = ?, fruitless = 0 WHERE id = ?").run(progress.text, id);
    });
  }

  /** Events of a job with ids above `after`, in order. */
  eventsAfter(id: string, after: number, limit: number): JobEvent[] {
    const sql =
      "SELECT id, job, attempt, at, type, data AS text FROM events WHERE job = ? AND id > ? ORDER BY id LIMIT ?";
    return this.#run(() => this.#db.prepare(sql).all(id, after, limit) as JobEvent[]);
  }

  /** @returns the job with its new request, null when there is none with this id */
  setRequest(id: string, request: JobRequest): StoredJob | null {
    return this.#write(() => {
      this.#updateRequest(id, request);
      return this.#read(id);
    });
  }

  /** Takes a job and its events away. */
  remove(id: string): void {
    this.#write(() => {
      this.#db.prepare("DELETE FROM events WHERE job = ?").run(id);
      this.#db.prepare("DELETE FROM jobs WHERE id = ?").run(id);
    });
  }

  close(): void {
    this.#db.close();
  }

  #updateRequest(id: string, request: JobRequest): void {
    this.#db.prepare("UPDATE jobs SET request = ? WHERE id = ?").run(JSON.stringify(request), id);
  }

  #insertState(
    job: string,
    { attempt, at, ...data }: { attempt: number; at: string; state: JobState; message: string | null },
  ): void {
    this.#insertEvent({ job, attempt, at, type: "state", text: JSON.stringify(data) });
  }

  #insertEvent(event: Omit<JobEvent, "id">): void {
    this.#db
      .prepare("INSERT INTO events (job, attempt, at, type, data) VALUES (?, ?, ?, ?, ?)")
      .run(event.job, event.attempt, event.at, event.type, event.text);
  }
}

/** Permissions are the user's alone, those of the files that SQLite makes beside it too. */
function open(file: string): Database.Database {
  try {
    closeSync(openSync(file, "a", 0o600));
    if ((statSync(file).mode & 0o077) !== 0) chmodSync(file, 0o600);
  } catch (error) {
    throw fileError(error, file, "write");
  }
  try {
    return new Database(file);
  } catch {
    throw new StoreFault(file, "SQLite cannot open it", "SQLITE_CANTOPEN");
  }
}

function damaged(file: string, how: string): StoreFault {
  return new StoreFault(file, DAMAGED, "SQLITE_CORRUPT", plainLine(how));
}

/** What a job waits for: one that may take the GPU waits for the GPU. */
export function laneOf(request: JobRequest): Lane {
  const configured =
    request.kind === "train" && typeof request.config === "object" ? request.config.device : undefined;
  return (request.device ?? configured) === "cpu" ? "cpu" : "gpu";
}

function toJob(row: JobRow): StoredJob {
  return {
    id: row.id,
    state: row.state,
    request: JSON.parse(row.request) as JobRequest,
    attempt: row.attempt,
    message: row.message,
    progress: row.progress === null ? null : (JSON.parse(row.progress) as Record<string, unknown>),
    run: row.run,
    exit_code: row.exit_code,
    created_at: row.created_at,
    started_at: row.started_at,
    ended_at: row.ended_at,
    last_event: row.last_event ?? 0,
    lane: row.lane,
    outputOffset: row.output_offset,
    fruitless: row.fruitless,
  };
}
