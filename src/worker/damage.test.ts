/** What happened to jobs.sqlite between two workers: a line that names it, and every job found again in its folder. */
import {
  closeSync,
  copyFileSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import Database from "libsql";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Job } from "../protocol/job.ts";
import { openStore } from "./job/open-store.ts";
import type { JobStore } from "./job/store.ts";
import { Harness, states } from "./testing/harness.ts";
import { STORE_FAULTS, StoreFaults } from "./testing/store-faults.ts";

let harness: Harness;
let log: string[];
const file = () => join(harness.dataDir, "jobs.sqlite");
beforeEach(() => {
  harness = new Harness();
  log = [];
  vi.spyOn(process.stderr, "write").mockImplementation((text) => {
    log.push(String(text));
    return true;
  });
});
afterEach(async () => {
  vi.restoreAllMocks();
  await harness.remove();
});

const jobs = async () => ((await (await harness.fetch("/api/jobs")).json()) as { jobs: Job[] }).jobs;
const steps = async (id: string) =>
  (await harness.events(id)).filter((event) => event.event === "progress").map((event) => event.data.step);

/** Writes `bytes` over the file at a place. */
function overwrite(at: number, bytes: Uint8Array): void {
  const descriptor = openSync(file(), "r+");
  writeSync(descriptor, bytes, 0, bytes.length, at);
  closeSync(descriptor);
}

function sql(...statements: string[]): void {
  const db = new Database(file());
  for (const statement of statements) db.exec(statement);
  db.close();
}

const DAMAGES: [string, () => void][] = [
  ["is not a database", () => writeFileSync(file(), "no database ".repeat(1000))],
  ["has a broken header", () => overwrite(0, Buffer.alloc(100, 0xff))],
  ["is cut off", () => truncateSync(file(), Math.floor(statSync(file()).size / 8192) * 4096)],
  ["has a page of zeros", () => overwrite(4096, Buffer.alloc(4096))],
  ["has a page of noise", () => overwrite(8192, Buffer.alloc(4096, 0x5a))],
  ["has lost the table of jobs", () => sql("DROP TABLE events", "DROP TABLE jobs")],
  ["has lost the table of events", () => sql("DROP TABLE events")],
  ["has tables but no version", () => sql("PRAGMA user_version = 0")],
  ["has a request that is not JSON", () => sql("UPDATE jobs SET request = substr(request, 2)")],
  ["has a state that there is not", () => sql("UPDATE jobs SET state = 'dome'")],
  ["has an event that is not JSON", () => sql("UPDATE events SET data = '{' WHERE type = 'progress'")],
];
const LOST: [string, () => void][] = [
  ["is gone", () => rmSync(file())],
  ["is empty", () => truncateSync(file(), 0)],
  ["has no rows", () => sql("DELETE FROM events", "DELETE FROM jobs")],
];

/** Ends the worker as the end of its process does: the connection of one that was closed here lives on for a while. */
async function stop(): Promise<void> {
  await harness.stop();
  copyFileSync(file(), `${file()}.copy`);
  for (const part of ["", "-wal", "-shm"]) rmSync(`${file()}${part}`, { force: true });
  renameSync(`${file()}.copy`, file());
}

/** A worker that ran three jobs to different ends, closed cleanly. */
async function worked(): Promise<Job[]> {
  await harness.start();
  const done = await harness.train(harness.config({ steps: 3 }).path, { title: "the first" });
  await harness.until(done.id, "done");
  const failed = await harness.train(harness.config({ steps: 3, failAt: 2 }).path);
  await harness.until(failed.id, "failed");
  const held = harness.config({ steps: 3, holdAt: 1 });
  const cancelled = await harness.train(held.path);
  await harness.untilJob(cancelled.id, (job) => job.progress?.step === 1);
  await harness.post(`/api/jobs/${cancelled.id}/cancel`);
  await harness.until(cancelled.id, "cancelled");
  const all = await jobs();
  await stop();
  return all;
}

const known = ({ last_event: _event, message, ...job }: Job) => ({ ...job, message });

describe.each([
  ...DAMAGES.map((each) => [...each, true] as const),
  ...LOST.map((each) => [...each, false] as const),
])("a list of jobs that %s", (_, damage, aside) => {
  it("is told, kept aside where it is damaged, and filled from the jobs' folders", async () => {
    const before = await worked();
    damage();
    const bytes = aside ? readFileSync(file()) : null;
    await harness.start();
    expect((await jobs()).map(known)).toEqual(before.map(known));
    expect(await steps(before[2]!.id)).toEqual([1, 2, 3]);
    const said = log.join("");
    expect(said).toMatch(/^gcopd worker: found in their folders and listed again: train-.*\n$/m);
    const kept = readdirSync(harness.dataDir).filter((name) =>
      /^jobs\.sqlite\.damaged-[\dTZ.-]+$/.test(name),
    );
    if (bytes !== null) {
      expect(kept).toHaveLength(1);
      expect(readFileSync(join(harness.dataDir, kept[0]!))).toEqual(bytes);
      expect(said).toContain(`gcopd worker: ${file()}: damaged (`);
      expect(said).toContain(`it is kept as ${join(harness.dataDir, kept[0]!)}`);
    } else {
      expect(kept).toEqual([]);
    }
    expect(said).not.toMatch(/\n\s+at /);
    // What was failed may be resumed, as before.
    expect((await harness.post(`/api/jobs/${before[1]!.id}/resume`)).status).toBe(202);
    await harness.until(before[1]!.id, "done");
  });
});

it("a job that was waiting still waits, and one that ran is looked for", async () => {
  await harness.start();
  const held = harness.config({ steps: 3, holdAt: 1 });
  const running = await harness.train(held.path);
  const waiting = await harness.train(harness.config({ steps: 1 }).path);
  await harness.untilJob(running.id, (job) => job.progress?.step === 1);
  const copy = join(harness.folder, "record.json");
  const record = join(harness.dataDir, "jobs", running.id, "job.json");
  copyFileSync(record, copy);
  await stop();
  // As if the worker had been killed: the list is gone, and what the folder has is from before the run.
  harness.release(held.hold);
  renameSync(copy, record);
  rmSync(file());
  await harness.start();
  await harness.until(running.id, "done");
  expect(await steps(running.id)).toEqual([1, 2, 3]);
  expect(states(await harness.events(running.id)).at(-1)).toBe("done");
  await harness.until(waiting.id, "done");
});

it("never deletes a folder with a job's work, whatever the list says", async () => {
  await harness.start();
  const { id } = await harness.train(harness.config({ steps: 1 }).path);
  await harness.until(id, "done");
  await stop();
  const folder = join(harness.dataDir, "jobs", id);
  // Of a version that wrote no record, in a list that was lost, two days ago.
  rmSync(join(folder, "job.json"));
  rmSync(file());
  const old = new Date(Date.now() - 48 * 3600 * 1000);
  utimesSync(folder, old, old);
  await harness.start();
  expect(readdirSync(folder)).toContain("out");
});

it("writes the records of jobs from before there were any", async () => {
  const [, , first] = await worked();
  const record = join(harness.dataDir, "jobs", first!.id, "job.json");
  const before = readFileSync(record, "utf8");
  rmSync(record);
  await harness.start();
  expect(readFileSync(record, "utf8")).toBe(before);
});

it.each([
  ["a folder", () => mkdirSync(file(), { recursive: true }), ": is a folder; expected a file"],
  [
    "locked by another program",
    () => {
      const db = new Database(file());
      db.exec("CREATE TABLE IF NOT EXISTS t (a)");
      db.exec("BEGIN EXCLUSIVE");
      closers.push(() => db.exec("ROLLBACK"));
    },
    ": the list of jobs cannot be used: another program holds its lock (SQLITE_BUSY)",
  ],
] as const)("says in one line that it is %s", async (_, spoil, message) => {
  mkdirSync(harness.dataDir, { recursive: true });
  spoil();
  await expect(harness.start()).rejects.toThrow(`${file()}${message}`);
  for (const close of closers.splice(0)) close();
});
const closers: (() => void)[] = [];

it.each([...STORE_FAULTS, "SQLITE_READONLY"] as const)(
  "says in one line that names it when the first statements meet %s",
  async (code) => {
    const faults = StoreFaults.install();
    try {
      for (let at = 0; ; at += 1) {
        mkdirSync(harness.dataDir, { recursive: true });
        faults.arm(at, code);
        let opened: JobStore | null = null;
        try {
          opened = openStore(file());
        } catch (error) {
          expect((error as Error).name).toBe("InputError");
          expect((error as Error).message).toMatch(
            /jobs\.sqlite: the list of jobs cannot be used: [^\n]*SQLITE_/,
          );
        }
        faults.disarm();
        opened?.close();
        if (faults.injected === null) {
          expect(opened).not.toBeNull();
          expect(at).toBeGreaterThan(8);
          return;
        }
        expect(opened).toBeNull();
      }
    } finally {
      faults.restore();
    }
  },
);
