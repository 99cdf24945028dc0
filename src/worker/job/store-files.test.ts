/**
 * Faults of the disk beneath SQLite, which does its file work in native code: its writes end short or fail at any byte, its
 * reads, writes and syncs fail one file at a time, and there is no descriptor left for any file that it opens.
 */
import { spawnSync } from "node:child_process";
import {
  closeSync,
  constants,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { QUICK } from "../../../test/support/file-faults.ts";
import {
  descriptors,
  liftLimits,
  limitFileSize,
  withFreeDescriptors,
} from "../../../test/support/process-limits.ts";
import { InputError } from "../../core/errors.ts";
import { openStore } from "./open-store.ts";
import type { JobStore } from "./store.ts";
import { StoreFault } from "./store-fault.ts";

const root = mkdtempSync(join(QUICK, "gcopd-store-files-"));
let folder: string;
let log: string[];
const file = () => join(folder, "jobs.sqlite");

function fresh(): void {
  folder = mkdtempSync(join(root, "list-"));
}

beforeEach(() => {
  fresh();
  log = [];
  vi.spyOn(process.stderr, "write").mockImplementation((text) => {
    log.push(String(text));
    return true;
  });
});
afterEach(() => {
  liftLimits();
  vi.restoreAllMocks();
});
afterAll(() => rmSync(root, { recursive: true }));

const REQUEST = { kind: "train", config: "/c.json", device: "webgpu", resume: "auto" } as const;
const TEXT = JSON.stringify({ text: "x".repeat(3000) });

/** The life of two jobs, one of which is deleted: each change is one transaction. */
const CHANGES: readonly ((store: JobStore) => unknown)[] = [
  (store) => store.create("a", REQUEST),
  (store) => store.create("b", REQUEST),
  (store) => store.transition("a", ["queued"], "starting", { attempt: 1 }),
  (store) => store.transition("a", ["starting"], "running", { run: "process 1" }),
  (store) => store.appendOutput("a", [{ type: "progress", text: '{"step":1}' }], 11),
  (store) => store.appendOutput("a", [{ type: "output", text: TEXT }], 4000),
  (store) => store.setRequest("b", { ...REQUEST, title: "other" }),
  (store) => store.remove("b"),
  (store) => store.transition("a", ["running"], "done", { exit_code: 0 }),
];

/** What the list says, the times apart. */
const contents = (store: JobStore) =>
  store.list({ limit: 100 }).map(({ created_at: _, last_event: __, ...job }) => ({
    ...job,
    events: store
      .eventsAfter(job.id, 0, 100)
      .map(({ attempt, type, text }) => [attempt, type, text.replace(/"at":"[^"]*"/, "")]),
  }));

/** The contents after each change, and the list at the end, where nothing goes wrong. */
function undisturbed(): { after: object[][]; whole: string } {
  const store = openStore(file());
  const after = [contents(store)];
  for (const change of CHANGES) {
    change(store);
    after.push(contents(store));
  }
  store.close();
  return { after, whole: endProcess() };
}

/** Does `work`; a fault of the store, which must be told in one line, is all that may be thrown. */
function faulted(work: () => unknown): boolean {
  try {
    work();
    return false;
  } catch (error) {
    expect(error).toSatisfy((thrown) => thrown instanceof StoreFault || thrown instanceof InputError);
    expect((error as Error).message).toMatch(/jobs\.sqlite: [^\n]+$/);
    return true;
  }
}

/** Goes on with copies of the files as the end of a process leaves them: a connection that was closed here lives on for a while. */
function endProcess(): string {
  const before = folder;
  folder = mkdtempSync(join(root, "ended-"));
  for (const name of readdirSync(before)) copyFileSync(join(before, name), join(folder, name));
  return file();
}

/** The rows that the next process finds in lists, the times apart. */
function foundIn(lists: readonly string[]): unknown[] {
  const program = `
    import Database from ${JSON.stringify(import.meta.resolve("libsql"))};
    const found = ${JSON.stringify(lists)}.map((file) => {
      const db = new Database(file);
      const of = (sql) => db.prepare(sql).all();
      return [
        of("PRAGMA quick_check"),
        of("SELECT id, state, request, attempt, message, progress, run, exit_code, output_offset FROM jobs"),
        of("SELECT job, attempt, type, json_remove(data, '$.at') AS data FROM events ORDER BY id"),
      ];
    });
    console.log(JSON.stringify(found));`;
  const { stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "--eval", program], {
    encoding: "utf8",
    maxBuffer: 2 ** 30,
  });
  expect(stderr).toBe("");
  return JSON.parse(stdout) as unknown[];
}

/** Each list has all that was confirmed, and none was taken for damaged. */
function expectKept(lists: readonly string[], whole: string): void {
  const [expected, ...found] = foundIn([whole, ...lists]);
  for (const each of found) expect(each).toEqual(expected);
  expect(log.join("")).not.toContain("damaged");
}

describe.runIf(process.platform === "linux")("SQLite's own files", () => {
  it("no room beyond a byte of any file: each change is refused whole, and done once there is room", () => {
    const { after, whole } = undisturbed();
    const ended: string[] = [];
    let refused = 0;
    // From a list that cannot even begin to the room that all changes need. Pages have 4,096 bytes: each limit lies at another place of one.
    for (
      let [bytes, before] = [0, -1];
      before < refused;
      bytes += 4096 + 1 + (Math.floor(bytes / 7) % 2000)
    ) {
      before = refused;
      fresh();
      limitFileSize(bytes);
      let store: JobStore | null = null;
      // Whatever fails is done with room, and the next change is tried without it again.
      const withRoom = (work: () => unknown) => {
        liftLimits();
        work();
        limitFileSize(bytes);
      };
      if (faulted(() => (store = openStore(file())))) withRoom(() => (store = openStore(file())));
      const opened = store!;
      for (const [n, change] of CHANGES.entries()) {
        if (faulted(() => change(opened))) {
          // Where nothing can be put back in its place, it is not read either.
          let read = after[n];
          faulted(() => {
            read = contents(opened);
          });
          expect(read, `${bytes} bytes, change ${n}`).toEqual(after[n]);
          withRoom(() => {
            expect(contents(opened), `${bytes} bytes, change ${n}`).toEqual(after[n]);
            change(opened);
          });
          refused += 1;
        }
        expect(contents(opened), `${bytes} bytes, change ${n}`).toEqual(after[n + 1]);
      }
      opened.close();
      liftLimits();
      ended.push(endProcess());
    }
    expectKept(ended, whole);
    expect(refused).toBeGreaterThan(20);
  });

  it.each([
    ["a read of the list", () => breakFile(file(), constants.O_WRONLY)],
    ["a write of the list", () => breakFile(file(), constants.O_RDONLY)],
    ["the opening of its journal", () => breakJournal((journal) => mkdirSync(journal))],
    ["a write of its journal", () => breakJournal((journal) => symlinkSync("/dev/full", journal))],
    ["a sync of its journal", () => breakJournal((journal) => symlinkSync("/dev/null", journal))],
  ])("%s fails for a while, in each change and at the end", (_, breaks) => {
    const { after, whole } = undisturbed();
    const ended: string[] = [];
    let refused = 0;
    for (let at = 0; at <= CHANGES.length; at += 1) {
      fresh();
      const store = openStore(file());
      for (const [n, change] of CHANGES.entries()) {
        const mend = n === at ? breaks() : () => {};
        const failed = faulted(() => change(store));
        mend();
        if (failed) {
          expect(contents(store), `change ${n}`).toEqual(after[n]);
          change(store);
          refused += 1;
        }
        expect(contents(store), `change ${n}`).toEqual(after[n + 1]);
      }
      const mend = at === CHANGES.length ? breaks() : () => {};
      store.close();
      mend();
      ended.push(endProcess());
    }
    expectKept(ended, whole);
    // All is written with each change; what was read before is kept in memory.
    if (_ !== "a read of the list") expect(refused).toBe(CHANGES.length);
  });

  it("no descriptor for each file that is opened: the list is told, and opened once there is one", () => {
    const { after, whole } = undisturbed();
    let refused = 0;
    for (let free = 0; ; free += 1) {
      let store: JobStore | null = null;
      const failed = withFreeDescriptors(free, () => faulted(() => (store = openStore(file()))));
      store = failed ? openStore(file()) : store!;
      expect(contents(store)).toEqual(after.at(-1));
      store.close();
      endProcess();
      if (!failed) break;
      refused += 1;
    }
    // The file itself, and its folder or journal.
    expect(refused).toBeGreaterThanOrEqual(2);
    expectKept([file()], whole);
  });

  describe("after a kill inside a change, with pages written over", () => {
    let after: object[];
    let killed: string;
    beforeEach(() => {
      after = undisturbed().after.at(-1)!;
      const before = readFileSync(file());
      killedInChange();
      expect(readFileSync(file()).equals(before)).toBe(false);
      killed = folder;
    });

    /** Opens a copy of the list while something fails, then without that: confirmed is what is read, by either. */
    function expectPutBack(fails: (openAgain: () => boolean) => boolean): boolean {
      folder = killed;
      endProcess();
      let store: JobStore | null = null;
      const refused = fails(() => faulted(() => (store = openStore(file()))));
      store ??= openStore(file());
      expect(contents(store)).toEqual(after);
      store.close();
      expect(log.join("")).not.toContain("damaged");
      return refused;
    }

    it("the next start puts them back", () => {
      expect(expectPutBack((openAgain) => openAgain())).toBe(false);
    });

    it("without room to write them, it refuses", () => {
      const sizes = [0, 1, 4095, 4097, 9000];
      const refused = sizes.map((bytes) =>
        expectPutBack((openAgain) => {
          limitFileSize(bytes);
          const failed = openAgain();
          liftLimits();
          return failed;
        }),
      );
      expect(refused).toEqual(sizes.map(() => true));
    });

    it("without a descriptor for a file that it opens, it refuses", () => {
      let refused = 0;
      while (expectPutBack((openAgain) => withFreeDescriptors(refused, openAgain))) refused += 1;
      // The list and its journal.
      expect(refused).toBeGreaterThanOrEqual(2);
    });
  });
});

/** Has a process write over pages of the list, and killed before it confirms that. */
function killedInChange(): void {
  const program = `
    import Database from ${JSON.stringify(import.meta.resolve("libsql"))};
    const db = new Database(${JSON.stringify(file())});
    db.exec("PRAGMA journal_mode = PERSIST; PRAGMA cache_size = 1; BEGIN IMMEDIATE");
    db.exec("UPDATE events SET data = replace(data, 'x', 'y'); UPDATE jobs SET state = 'failed', run = 'none'");
    for (let n = 0; n < 40; n++) db.exec("INSERT INTO events SELECT NULL, job, attempt, at, type, data FROM events LIMIT 3");
    process.kill(process.pid, "SIGKILL");`;
  const { signal, stderr } = spawnSync(process.execPath, ["--input-type=module", "--eval", program]);
  expect([signal, String(stderr)]).toEqual(["SIGKILL", ""]);
}

/** Opens the list again under the descriptor that SQLite has of it, for reading or for writing alone; the result puts it back. */
function breakFile(path: string, flags: number): () => void {
  const own = descriptors().find((each) => nameOf(each) === path)!;
  putAt(own, () => openSync(path, flags));
  return () => putAt(own, () => openSync(path, constants.O_RDWR));
}

/** Puts something else in the place of the journal, which is opened for each change; the result puts it back. */
function breakJournal(instead: (path: string) => void): () => void {
  const journal = `${file()}-journal`;
  renameSync(journal, `${journal}.aside`);
  instead(journal);
  return () => {
    rmSync(journal, { recursive: true });
    renameSync(`${journal}.aside`, journal);
  };
}

function nameOf(descriptor: number): string | null {
  try {
    return readlinkSync(`/proc/self/fd/${descriptor}`);
  } catch {
    // The one that the list was read with.
    return null;
  }
}

/** A file gets the lowest descriptor that is free. */
function putAt(descriptor: number, open: () => number): void {
  closeSync(descriptor);
  const lower: number[] = [];
  for (let got = open(); got !== descriptor; got = open()) lower.push(got);
  for (const each of lower) closeSync(each);
}
