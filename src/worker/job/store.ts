/** Jobs and their events in SQLite (WAL): each change and the event that tells of it are one transaction. */
import Database from "libsql";
import { InputError } from "../../core/errors.ts";
import type { Job, JobEvent, JobRequest, JobState } from "./job.ts";

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
];

interface JobRow {
  id: string;
  state: JobState;
  lane: string;
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

interface EventRow {
  id: number;
  job: string;
  attempt: number;
  at: string;
  type: JobEvent["type"];
  data: string;
}

/** What the queue keeps of a job beside what users see. */
export interface StoredJob extends Omit<Job, "command"> {
  /** Jobs of one lane run one after the other. */
  lane: string;
  /** Bytes of the present attempt's output that are already events. */
  outputOffset: number;
  /** Automatic attempts in a row that ended before they printed any progress. */
  fruitless: number;
}

/** Columns that a change of state may set beside it. */
export interface JobPatch {
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

export class JobStore {
  readonly #db: Database.Database;

  /** @throws InputError when the file was written by a newer version. */
  constructor(file: string) {
    this.#db = new Database(file);
    this.#db.pragma("journal_mode = WAL");
    this.#db.pragma("synchronous = FULL");
    this.#db.pragma("foreign_keys = ON");
    this.#migrate(file);
  }

  /** Version of the file's schema. */
  get version(): number {
    return (this.#db.prepare("PRAGMA user_version").get() as { user_version: number }).user_version;
  }

  #migrate(file: string): void {
    const from = this.version;
    if (from > MIGRATIONS.length) {
      this.#db.close();
      throw new InputError(`written by a newer gcopd (schema ${from}; this one knows ${MIGRATIONS.length})`, {
        file,
      });
    }
    for (let version = from; version < MIGRATIONS.length; version++) {
      this.#db.transaction(() => {
        this.#db.exec(MIGRATIONS[version]!);
        this.#db.exec(`PRAGMA user_version = ${version + 1}`);
      })();
    }
  }

  create(id: string, request: JobRequest): StoredJob {
    const at = new Date().toISOString();
    this.#db.transaction(() => {
      this.#db
        .prepare(
          `INSERT INTO jobs (id, state, lane, request, created_at, queued_order)
           VALUES (?, 'queued', ?, ?, ?, ${NEXT_ORDER})`,
        )
        .run(id, laneOf(request), JSON.stringify(request), at);
      this.#insertEvent({ job: id, attempt: 0, at, type: "state", data: { state: "queued", message: null } });
    })();
    return this.get(id)!;
  }

  get(id: string): StoredJob | null {
    const row = this.#db.prepare(`${SELECT} WHERE id = ?`).get(id) as JobRow | undefined;
    return row === undefined ? null : toJob(row);
  }

  /** Newest first. */
  list(filter: { state?: JobState; limit: number }): StoredJob[] {
    const where = filter.state === undefined ? "" : "WHERE state = ?";
    const values = filter.state === undefined ? [filter.limit] : [filter.state, filter.limit];
    const sql = `${SELECT} ${where} ORDER BY created_at DESC, rowid DESC LIMIT ?`;
    return (this.#db.prepare(sql).all(...values) as JobRow[]).map(toJob);
  }

  /** All jobs in these states, in the order in which they were queued. */
  inStates(states: readonly JobState[]): StoredJob[] {
    const marks = states.map(() => "?").join(", ");
    const sql = `${SELECT} WHERE state IN (${marks}) ORDER BY queued_order`;
    return (this.#db.prepare(sql).all(...states) as JobRow[]).map(toJob);
  }

  /** Moves a job from one of the states `from` to `to`; false, and nothing changed, when it is in none of them. */
  transition(id: string, from: readonly JobState[], to: JobState, patch: JobPatch = {}): boolean {
    return this.#db.transaction(() => {
      const before = this.get(id);
      if (before === null || !from.includes(before.state)) return false;
      const values: JobPatch = { message: null, ...patch };
      const columns = Object.keys(values).map((column) => `${column} = ?`);
      if (to === "queued") columns.push(`queued_order = ${NEXT_ORDER}`);
      this.#db
        .prepare(`UPDATE jobs SET state = ?, ${columns.join(", ")} WHERE id = ?`)
        .run(to, ...Object.values(values), id);
      const attempt = patch.attempt ?? before.attempt;
      const data = { state: to, message: values.message ?? null };
      this.#insertEvent({ job: id, attempt, at: new Date().toISOString(), type: "state", data });
      return true;
    })();
  }

  /** Output lines as events, and how far the output is read: both or neither. */
  appendOutput(id: string, events: readonly Pick<JobEvent, "type" | "data">[], outputOffset: number): void {
    this.#db.transaction(() => {
      const { attempt } = this.get(id)!;
      const at = new Date().toISOString();
      for (const event of events) this.#insertEvent({ job: id, attempt, at, ...event });
      this.#db.prepare("UPDATE jobs SET output_offset = ? WHERE id = ?").run(outputOffset, id);
      const progress = events.findLast((event) => event.type === "progress");
      if (progress === undefined) return;
      this.#db
        .prepare("UPDATE jobs SET progress = ?, fruitless = 0 WHERE id = ?")
        .run(JSON.stringify(progress.data), id);
    })();
  }

  /** Events of a job with ids above `after`, in order. */
  eventsAfter(id: string, after: number, limit: number): JobEvent[] {
    const sql =
      "SELECT id, job, attempt, at, type, data FROM events WHERE job = ? AND id > ? ORDER BY id LIMIT ?";
    return (this.#db.prepare(sql).all(id, after, limit) as EventRow[]).map((row) => ({
      ...row,
      data: JSON.parse(row.data) as Record<string, unknown>,
    }));
  }

  setRequest(id: string, request: JobRequest): void {
    this.#db.prepare("UPDATE jobs SET request = ? WHERE id = ?").run(JSON.stringify(request), id);
  }

  /** Takes a job and its events away. */
  remove(id: string): void {
    this.#db.transaction(() => {
      this.#db.prepare("DELETE FROM events WHERE job = ?").run(id);
      this.#db.prepare("DELETE FROM jobs WHERE id = ?").run(id);
    })();
  }

  close(): void {
    this.#db.close();
  }

  #insertEvent(event: Omit<JobEvent, "id">): void {
    this.#db
      .prepare("INSERT INTO events (job, attempt, at, type, data) VALUES (?, ?, ?, ?, ?)")
      .run(event.job, event.attempt, event.at, event.type, JSON.stringify(event.data));
  }
}

/** What a job waits for: one that may take the GPU waits for the GPU. */
export function laneOf(request: JobRequest): string {
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
