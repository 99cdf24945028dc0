import { copyFileSync, existsSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "libsql";
import { afterEach, beforeEach, expect, it } from "vitest";
import { StoreFaults } from "../testing/store-faults.ts";
import { JobStore } from "./store.ts";

const FIRST_SCHEMA = `CREATE TABLE jobs (id TEXT PRIMARY KEY, state TEXT NOT NULL, lane TEXT NOT NULL, request TEXT NOT NULL,
  attempt INTEGER NOT NULL DEFAULT 0, message TEXT, progress TEXT, run TEXT, exit_code INTEGER, created_at TEXT NOT NULL,
  started_at TEXT, ended_at TEXT, queued_order INTEGER NOT NULL, output_offset INTEGER NOT NULL DEFAULT 0,
  fruitless INTEGER NOT NULL DEFAULT 0) STRICT;
CREATE INDEX jobs_by_state ON jobs (state, queued_order);
CREATE TABLE events (id INTEGER PRIMARY KEY AUTOINCREMENT, job TEXT NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
  attempt INTEGER NOT NULL, at TEXT NOT NULL, type TEXT NOT NULL, data TEXT NOT NULL) STRICT;
CREATE INDEX events_by_job ON events (job, id);`;

const REQUEST = { kind: "train", config: "/c.json", device: "webgpu", resume: "auto" } as const;
let folder: string;
let store: JobStore;
const file = () => join(folder, "jobs.sqlite");
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "gcopd-store-"));
  store = new JobStore(file());
});
afterEach(() => {
  store.close();
  rmSync(folder, { recursive: true, force: true });
});

it("keeps the version of its schema, and all that an earlier version left in a write-ahead log", () => {
  expect(store.version).toBe(2);
  store.create("a", REQUEST);
  store.close();
  const before = new Database(file());
  before.pragma("journal_mode = WAL");
  before.exec("UPDATE jobs SET message = 'in the log'");
  // As a kill leaves them.
  const kept = join(folder, "kept.sqlite");
  for (const part of ["", "-wal"]) copyFileSync(`${file()}${part}`, `${kept}${part}`);
  before.close();
  store = new JobStore(kept);
  expect(store.get("a")).toMatchObject({ message: "in the log", request: REQUEST });
  const db = new Database(kept);
  expect(db.pragma("journal_mode")).not.toMatchObject([{ journal_mode: "wal" }]);
  db.close();
  expect(existsSync(`${kept}-wal`)).toBe(false);
});

it("refuses a file of a newer version and leaves it as it is", () => {
  const newer = join(folder, "newer.sqlite");
  const db = new Database(newer);
  db.exec("PRAGMA user_version = 99");
  db.close();
  expect(() => new JobStore(newer)).toThrow(
    `${newer}: written by a newer gcopd (schema 99; this one knows 2)`,
  );
});

it("moves a job only from the states named, and writes each move down", () => {
  store.create("a", REQUEST);
  expect(store.transition("a", ["running"], "done")).toBeNull();
  expect(store.transition("none", ["queued"], "starting")).toBeNull();
  expect(store.transition("a", ["queued"], "starting", { attempt: 1 })).toMatchObject({ state: "starting" });
  const failed = store.transition("a", ["starting"], "failed", { message: "why", exit_code: 1 });
  expect(failed).toEqual(store.get("a"));
  expect(store.get("a")).toMatchObject({ state: "failed", message: "why", exit_code: 1, attempt: 1 });
  expect(store.transition("a", ["failed"], "queued")).not.toBeNull();
  expect(store.get("a")?.message).toBeNull();
  expect(store.eventsAfter("a", 0, 10).map(({ attempt, text }) => [attempt, JSON.parse(text).state])).toEqual(
    [
      [0, "queued"],
      [1, "starting"],
      [1, "failed"],
      [1, "queued"],
    ],
  );
});

it("takes output and how far it was read together, or neither", () => {
  store.create("a", REQUEST);
  store.transition("a", ["queued"], "starting", { attempt: 1 });
  store.appendOutput(
    "a",
    [
      { type: "progress", text: '{"step":1}' },
      { type: "output", text: '{"text":"x"}' },
    ],
    20,
  );
  expect(store.get("a")).toMatchObject({ outputOffset: 20, progress: { step: 1 }, last_event: 4 });
  expect(() =>
    store.appendOutput(
      "a",
      [
        { type: "progress", text: '{"step":2}' },
        { type: "progress", text: null as unknown as string },
      ],
      40,
    ),
  ).toThrow();
  expect(store.get("a")).toMatchObject({ outputOffset: 20, progress: { step: 1 }, last_event: 4 });
});

it("hands out events in order, from any place, and never gives an id twice", () => {
  store.create("a", REQUEST);
  store.create("b", REQUEST);
  store.appendOutput(
    "a",
    [1, 2, 3].map((step) => ({ type: "progress" as const, text: JSON.stringify({ step }) })),
    1,
  );
  const ids = store.eventsAfter("a", 0, 10).map((event) => event.id);
  expect(ids).toEqual([1, 3, 4, 5]);
  expect(store.eventsAfter("a", 3, 1).map((event) => event.id)).toEqual([4]);
  expect(store.eventsAfter("b", 2, 10)).toEqual([]);
});

it("puts a job that is queued again behind those that wait", () => {
  for (const id of ["a", "b", "c"]) store.create(id, REQUEST);
  store.transition("a", ["queued"], "cancelled");
  store.transition("a", ["cancelled"], "queued");
  const order: string[] = [];
  for (let job = store.firstQueued("gpu"); job !== null; job = store.firstQueued("gpu")) {
    order.push(job.id);
    store.transition(job.id, ["queued"], "starting");
  }
  expect(order).toEqual(["b", "c", "a"]);
  expect(store.firstQueued("cpu")).toBeNull();
  expect(store.list({ limit: 2 }).map((job) => job.id)).toEqual(["c", "b"]);
});

it("keeps its file from other users", () => {
  const loose = join(folder, "loose.sqlite");
  writeFileSync(loose, "", { mode: 0o644 });
  const other = new JobStore(loose);
  other.create("a", REQUEST);
  for (const name of readdirSync(folder)) expect(statSync(join(folder, name)).mode & 0o777, name).toBe(0o600);
  other.close();
});

it("reads no job that it is not asked for: every statement uses an index", () => {
  const faults = StoreFaults.install();
  faults.arm(-1, "SQLITE_FULL");
  try {
    const { id } = store.create("a", REQUEST);
    store.firstQueued("gpu");
    store.transition(id, ["queued"], "starting", { attempt: 1 });
    store.transition(id, ["starting"], "queued");
    store.appendOutput(id, [{ type: "progress", text: '{"step":1}' }], 10);
    store.eventsAfter(id, 0, 10);
    store.inStates(["running"]);
    store.list({ limit: 10 });
    store.list({ limit: 10, state: "done" });
    store.setRequest(id, REQUEST);
    store.remove(id);
  } finally {
    faults.restore();
  }
  const db = new Database(file());
  const read = faults.statements.filter((sql) => /^(SELECT|INSERT|UPDATE|DELETE)/.test(sql));
  expect(read.length).toBeGreaterThan(15);
  for (const sql of read) {
    const plan = (db.prepare(`EXPLAIN QUERY PLAN ${sql}`).all() as { detail: string }[]).map(
      (row) => row.detail,
    );
    // "SCAN jobs USING INDEX" walks an index in its order, and stops at the limit.
    expect(plan.join("; "), sql).not.toMatch(/SCAN (jobs|events)(?! USING)|TEMP B-TREE/);
  }
  db.close();
});

it("brings a list of the first version to the present one", () => {
  const old = join(folder, "old.sqlite");
  const db = new Database(old);
  db.exec(FIRST_SCHEMA);
  db.exec("PRAGMA user_version = 1");
  db.prepare(
    "INSERT INTO jobs (id, state, lane, request, created_at, queued_order) VALUES ('a', 'queued', 'gpu', ?, ?, 1)",
  ).run(JSON.stringify(REQUEST), "2026-01-01T00:00:00.000Z");
  db.close();
  const store = new JobStore(old);
  expect(store.version).toBe(2);
  expect(store.firstQueued("gpu")).toMatchObject({ id: "a", request: REQUEST });
  store.close();
});

it("waits at each commit until it is on the disk", () => {
  const statements = StoreFaults.install();
  const other = new JobStore(join(folder, "other.sqlite"));
  // 2 is FULL. Only the connection itself tells.
  expect(statements.connections.at(-1)?.pragma("synchronous")).toMatchObject([{ synchronous: 2 }]);
  other.close();
  statements.restore();
});
