import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "libsql";
import { afterEach, beforeEach, expect, it } from "vitest";
import { JobStore } from "./store.ts";

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

it("keeps a write-ahead log and the version of its schema", () => {
  const db = new Database(file());
  expect(db.pragma("journal_mode")).toMatchObject([{ journal_mode: "wal" }]);
  expect(store.version).toBe(1);
  db.close();
});

it("refuses a file of a newer version and leaves it as it is", () => {
  const newer = join(folder, "newer.sqlite");
  const db = new Database(newer);
  db.exec("PRAGMA user_version = 99");
  db.close();
  expect(() => new JobStore(newer)).toThrow(
    `${newer}: written by a newer gcopd (schema 99; this one knows 1)`,
  );
});

it("moves a job only from the states named, and writes each move down", () => {
  store.create("a", REQUEST);
  expect(store.transition("a", ["running"], "done")).toBe(false);
  expect(store.transition("none", ["queued"], "starting")).toBe(false);
  expect(store.transition("a", ["queued"], "starting", { attempt: 1 })).toBe(true);
  expect(store.transition("a", ["starting"], "failed", { message: "why", exit_code: 1 })).toBe(true);
  expect(store.get("a")).toMatchObject({ state: "failed", message: "why", exit_code: 1, attempt: 1 });
  expect(store.transition("a", ["failed"], "queued")).toBe(true);
  expect(store.get("a")?.message).toBeNull();
  expect(store.eventsAfter("a", 0, 10).map(({ attempt, data }) => [attempt, data.state])).toEqual([
    [0, "queued"],
    [1, "starting"],
    [1, "failed"],
    [1, "queued"],
  ]);
});

it("takes output and how far it was read together, or neither", () => {
  store.create("a", REQUEST);
  store.transition("a", ["queued"], "starting", { attempt: 1 });
  store.appendOutput(
    "a",
    [
      { type: "progress", data: { step: 1 } },
      { type: "output", data: { text: "x" } },
    ],
    20,
  );
  expect(store.get("a")).toMatchObject({ outputOffset: 20, progress: { step: 1 }, last_event: 4 });
  const circular: Record<string, unknown> = {};
  circular.self = circular;
  expect(() =>
    store.appendOutput(
      "a",
      [
        { type: "progress", data: { step: 2 } },
        { type: "progress", data: circular },
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
    [1, 2, 3].map((step) => ({ type: "progress" as const, data: { step } })),
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
  expect(store.inStates(["queued"]).map((job) => job.id)).toEqual(["b", "c", "a"]);
  expect(store.list({ limit: 2 }).map((job) => job.id)).toEqual(["c", "b"]);
});
