/** Every file operation and every statement of the queue goes wrong once: nothing crashes, and no job is told wrong. */
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from "vitest";
import { FAULTED } from "../../../test/support/faulted-modules.ts";
import { FileFaults, QUICK } from "../../../test/support/file-faults.ts";
import type { JobRequest } from "../../protocol/job.ts";
import { ENDED } from "../../protocol/job-state.ts";
import { ApiError } from "../http/errors.ts";
import { STORE_FAULTS, StoreFaults } from "../testing/store-faults.ts";
import {
  type JobProcess,
  type Launcher,
  LOG_FILE,
  OUTPUT_FILE,
  type ProcessEnd,
  type ProcessSpec,
  type Recovered,
} from "./launcher.ts";
import { JobQueue } from "./queue.ts";
import { JobStore, type StoredJob } from "./store.ts";
import { StoreFault } from "./store-fault.ts";

let files: FileFaults;
let statements: StoreFaults;
let folder: string;
let log: string[];
const unhandled = vi.fn();
beforeAll(async () => {
  files = await FileFaults.install();
  statements = StoreFaults.install();
  process.on("unhandledRejection", unhandled);
});
afterAll(() => {
  process.off("unhandledRejection", unhandled);
  statements.restore();
  files.restore();
});
beforeEach(() => {
  log = [];
  vi.spyOn(process.stderr, "write").mockImplementation((text) => {
    log.push(String(text));
    return true;
  });
  fresh();
});
afterEach(() => {
  files.disarm();
  statements.disarm();
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true, force: true });
});

function fresh(): void {
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  folder = mkdtempSync(join(QUICK, "gcopd-queue-faults-"));
  mkdirSync(join(folder, "jobs"));
}

/** Runs that a test writes and ends, in place of processes. Its own files are not the queue's. */
class ScriptedLauncher implements Launcher {
  readonly launched: string[] = [];
  readonly #ends = new Map<string, (end: ProcessEnd) => void>();
  readonly #runs = new Map<string, JobProcess>();

  async launch(spec: ProcessSpec): Promise<JobProcess> {
    this.launched.push(spec.folder);
    files.aside(() => mkdirSync(spec.folder, { recursive: true }));
    const run = {
      name: "scripted",
      ended: new Promise<ProcessEnd>((resolve) => this.#ends.set(spec.folder, resolve)),
      stop: () => this.end(spec.folder, { kind: "signal", signal: "SIGTERM" }),
    };
    this.#runs.set(spec.folder, run);
    return run;
  }

  async recover(spec: ProcessSpec): Promise<Recovered> {
    const run = this.#runs.get(spec.folder);
    return run === undefined ? { kind: "never" } : { kind: "running", run };
  }

  print(run: string, ...lines: object[]): void {
    files.aside(() => {
      for (const line of lines) appendFileSync(join(run, OUTPUT_FILE), `${JSON.stringify(line)}\n`);
    });
  }

  end(run: string, end: ProcessEnd, says?: string): void {
    if (says !== undefined) files.aside(() => writeFileSync(join(run, LOG_FILE), says));
    this.#ends.get(run)!(end);
  }
}

const CONFIG = { a: 1 };
const TRAIN: JobRequest = { kind: "train", config: CONFIG, resume: "auto" };
/** Under an id of its own, so that it can be submitted again after a refusal. */
const NAMED: JobRequest = { ...TRAIN, id: "train-0123456789ab" };
const SCORE: JobRequest = { kind: "score", model: "/m", in: "/i", device: "cpu", resume: "manual" };

/** Asks until it is not answered that another try may do. */
async function again<T>(ask: () => T | Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      const passes = error instanceof StoreFault || (error instanceof ApiError && error.status === 503);
      if (!passes) throw error;
      expect(error.message).not.toContain("\n");
      await sleep(5);
    }
  }
}

async function untilJob(queue: JobQueue, id: string, holds: (job: StoredJob) => boolean): Promise<StoredJob> {
  for (;;) {
    let changed = () => {};
    const change = new Promise<void>((resolve) => {
      changed = resolve;
    });
    const unsubscribe = queue.subscribe(id, changed);
    const job = await again(() => queue.get(id));
    if (holds(job)) {
      unsubscribe();
      return job;
    }
    await change;
    unsubscribe();
  }
}

function eventsOf(store: JobStore, id: string): Promise<[number, unknown][]> {
  return again(() =>
    store
      .eventsAfter(id, 0, 100)
      .filter((event) => event.type === "progress")
      .map(({ attempt, text }) => [attempt, JSON.parse(text).step]),
  );
}

/** Two jobs from their submission to their end; one is deleted, and the other found again without the list. */
async function scenario(): Promise<void> {
  const launcher = new ScriptedLauncher();
  const open = async (name: string) => {
    const store = await again(() => new JobStore(join(folder, name)));
    const queue = new JobQueue({ store, launcher, folder: join(folder, "jobs"), pollMs: 10, retryMs: 2 });
    await queue.recover();
    return { store, queue };
  };
  const first = await open("jobs.sqlite");
  const { queue } = first;
  const [train, score] = [await again(() => queue.submit(NAMED)), await again(() => queue.submit(SCORE))];
  const runs: string[] = [];
  for (const { id } of [train, score]) {
    await untilJob(queue, id, (job) => job.state === "running");
    runs.push(launcher.launched.find((run) => run.includes(id))!);
  }
  const [trainRun, scoreRun] = runs as [string, string];
  launcher.print(trainRun, { step: 1 });
  launcher.print(scoreRun, { step: 1 });
  await untilJob(queue, train.id, (job) => job.progress?.step === 1);
  launcher.print(trainRun, { step: 2 });
  launcher.end(trainRun, { kind: "exit", code: 0 });
  launcher.end(scoreRun, { kind: "exit", code: 1 }, "gcopd: wrong\n");

  const ended = (job: StoredJob) => ENDED.includes(job.state);
  expect(await untilJob(queue, train.id, ended)).toMatchObject({
    state: "done",
    exit_code: 0,
    message: null,
  });
  const failed = await untilJob(queue, score.id, ended);
  expect(failed).toMatchObject({ state: "failed", exit_code: 1, attempt: 1 });
  expect(failed.message).toMatch(/^(gcopd: wrong|its log cannot be read: .*) \(exit code 1\)$/);
  expect(await eventsOf(first.store, train.id)).toEqual([
    [1, 1],
    [1, 2],
  ]);
  expect(launcher.launched).toHaveLength(2);

  await again(() => queue.remove(train.id));
  expect(await again(() => queue.has(train.id))).toBe(false);
  await queue.close();
  first.store.close();

  // The list is lost; the folders have what was confirmed.
  const second = await open("other.sqlite");
  await second.queue.close();
  second.store.close();
  files.disarm();
  statements.disarm();
  const third = await open("other.sqlite");
  expect(third.queue.has(train.id)).toBe(false);
  expect(third.queue.get(score.id)).toMatchObject({ attempt: 1, request: SCORE });
  expect(await eventsOf(third.store, score.id)).toEqual([[1, 1]]);
  expect(readdirSync(join(folder, "jobs"))).toEqual([score.id]);
  await third.queue.close();
  third.store.close();
  expect(launcher.launched).toHaveLength(2);
  expect(unhandled).not.toHaveBeenCalled();
}

it.each(["short", "EIO", "ENOSPC", "EMFILE"] as const)("every file operation once with %s", async (fault) => {
  const begin = () => {
    fresh();
    return join(folder, "jobs");
  };
  const met = await files.each(fault, begin, scenario);
  const expected = {
    short: ["readSync", "writeSync"],
    EIO: ["readSync", "mkdirSync", "fsyncSync", "rename"],
  };
  expect(met.map(({ name }) => name)).toEqual(
    expect.arrayContaining(fault === "short" || fault === "EIO" ? expected[fault] : ["openSync"]),
  );
});

it("every call of the file system in these modules went wrong", () => {
  expect(files.unreached(FAULTED["src/worker/job/faults.test.ts"])).toEqual([]);
});

it.each(STORE_FAULTS)("every statement once with %s", async (code) => {
  let injected = 0;
  for (let at = 0; ; at += 1) {
    fresh();
    statements.arm(at, code);
    await scenario().catch((error: unknown) => {
      throw new Error(`${code} at ${at}: ${statements.injected}`, { cause: error });
    });
    if (statements.injected === null) break;
    injected += 1;
  }
  expect(injected).toBeGreaterThan(30);
});

it("a run whose output is a folder for a while goes on, holds its lane, and is told as it is", async () => {
  const launcher = new ScriptedLauncher();
  const store = new JobStore(join(folder, "jobs.sqlite"));
  const queue = new JobQueue({ store, launcher, folder: join(folder, "jobs"), pollMs: 10, retryMs: 2 });
  await queue.recover();
  const { id } = queue.submit(TRAIN);
  const waiting = queue.submit(TRAIN);
  await untilJob(queue, id, (job) => job.state === "running");
  const run = launcher.launched[0]!;
  mkdirSync(join(run, OUTPUT_FILE));
  const told = await untilJob(queue, id, (job) => job.message !== null);
  expect(told).toMatchObject({
    state: "running",
    message:
      "its output cannot be read now: EISDIR: illegal operation on a directory, read; it is tried again",
  });
  expect(queue.faults).toEqual([`job ${id}: ${told.message!.replace("; it is tried again", "")}`]);
  expect(log.join("")).toContain(`gcopd worker: job ${id}: ${told.message}\n`);
  expect(queue.get(waiting.id).state).toBe("queued");
  await expect(queue.remove(id)).rejects.toThrow(`job ${id}: it is running: cancel it first`);

  rmSync(join(run, OUTPUT_FILE), { recursive: true });
  launcher.print(run, { step: 1 });
  expect(await untilJob(queue, id, (job) => job.progress?.step === 1)).toMatchObject({ state: "running" });
  await untilJob(queue, id, (job) => job.message === null);
  expect(queue.faults).toEqual([]);
  launcher.end(run, { kind: "exit", code: 0 });
  expect(await untilJob(queue, id, (job) => job.state === "done")).toMatchObject({ message: null });
  await untilJob(queue, waiting.id, (job) => job.state === "running");
  await queue.close();
  store.close();
});

it("what a run had to wait out of the list of jobs is told on its job once the list can be used again", async () => {
  const launcher = new ScriptedLauncher();
  const store = new JobStore(join(folder, "jobs.sqlite"));
  const queue = new JobQueue({ store, launcher, folder: join(folder, "jobs"), pollMs: 10, retryMs: 2 });
  await queue.recover();
  const { id } = queue.submit(TRAIN);
  await untilJob(queue, id, (job) => job.state === "running");
  const told = () =>
    store
      .eventsAfter(id, 0, 100)
      .filter(({ type }) => type === "state")
      .map(({ text }) => JSON.parse(text))
      .slice(3);
  // Nobody but the queue, as it follows the run, asks the list until its statement has failed.
  statements.arm(0, "SQLITE_FULL");
  await vi.waitUntil(() => statements.injected !== null, { timeout: 100_000 });
  await untilJob(queue, id, () => told().length === 2);
  const outage =
    /^waited out since \d{4}-\d\d-\d\dT[\d:.]+Z: the list of jobs cannot be used: [^\n]*jobs\.sqlite: no space left on the device/;
  expect(told()).toEqual([
    { state: "running", message: expect.stringMatching(outage) },
    { state: "running", message: null },
  ]);
  launcher.end(launcher.launched[0]!, { kind: "exit", code: 0 });
  await untilJob(queue, id, (job) => job.state === "done");
  await queue.close();
  store.close();
});

it("a run that ended gives up its lane at once, and its job ends though its output cannot be read", async () => {
  const launcher = new ScriptedLauncher();
  const store = new JobStore(join(folder, "jobs.sqlite"));
  const queue = new JobQueue({ store, launcher, folder: join(folder, "jobs"), pollMs: 10, retryMs: 2 });
  await queue.recover();
  const { id } = queue.submit(TRAIN);
  const next = queue.submit(TRAIN);
  await untilJob(queue, id, (job) => job.state === "running");
  const run = launcher.launched[0]!;
  mkdirSync(join(run, OUTPUT_FILE));
  launcher.end(run, { kind: "exit", code: 0 });
  await untilJob(queue, next.id, (job) => job.state === "running");
  expect(await untilJob(queue, id, (job) => ENDED.includes(job.state))).toMatchObject({
    state: "done",
    message: "its output could not be read to its end: EISDIR: illegal operation on a directory, read",
  });
  await queue.close();
  store.close();
});

it("a job that cannot be started for want of files or space waits, and is cancelled when asked to", async () => {
  const launcher = new ScriptedLauncher();
  const full = Object.assign(new Error("ENOSPC: no space left on device, open"), {
    code: "ENOSPC",
    syscall: "open",
  });
  vi.spyOn(launcher, "launch").mockRejectedValue(full);
  const store = new JobStore(join(folder, "jobs.sqlite"));
  const queue = new JobQueue({ store, launcher, folder: join(folder, "jobs"), pollMs: 10, retryMs: 2 });
  await queue.recover();
  const { id } = queue.submit(SCORE);
  await untilJob(queue, id, (job) => job.message !== null);
  expect(queue.get(id)).toMatchObject({
    state: "starting",
    message: "it cannot be started yet: no space left on the device (ENOSPC); it is tried again",
  });
  queue.cancel(id);
  expect(await untilJob(queue, id, (job) => job.state === "cancelled")).toMatchObject({
    message: "it had not begun",
  });
  const other = queue.submit(SCORE);
  await untilJob(queue, other.id, (job) => job.message !== null);
  await queue.close();
  // Nothing had run: it waits for the next worker.
  expect(store.get(other.id)).toMatchObject({
    state: "queued",
    message: "the worker was closed before it began",
  });
  expect(existsSync(join(folder, "jobs", other.id, "attempt-1"))).toBe(false);
  store.close();
});

it("a job that was killed for memory says so and waits for a person; any other kill is lost and goes on", async () => {
  const launcher = new ScriptedLauncher();
  const store = new JobStore(join(folder, "jobs.sqlite"));
  const queue = new JobQueue({ store, launcher, folder: join(folder, "jobs"), pollMs: 1, retryMs: 1 });
  await queue.recover();
  const ends: [ProcessEnd, string][] = [
    [{ kind: "signal", signal: "SIGKILL", memory: true }, "ended by SIGKILL"],
    [{ kind: "unknown", memory: true }, "no exit code"],
    [{ kind: "exit", code: 137, memory: true }, "exit code 137"],
  ];
  for (const [end, how] of ends) {
    const { id } = queue.submit(TRAIN);
    await untilJob(queue, id, (job) => job.state === "running");
    launcher.end(launcher.launched.at(-1)!, end);
    expect(await untilJob(queue, id, (job) => ENDED.includes(job.state))).toMatchObject({
      state: "lost",
      message: `the system ended it for want of memory (${how}): resume it with a lower memory limit`,
    });
  }
  for (const end of [{ kind: "exit", code: 137 }, { kind: "unknown" }] as const) {
    const { id } = queue.submit(TRAIN);
    await untilJob(queue, id, (job) => job.state === "running");
    launcher.end(launcher.launched.at(-1)!, end);
    await untilJob(queue, id, (job) => job.state === "running" && job.attempt === 2);
    launcher.end(launcher.launched.at(-1)!, { kind: "exit", code: 0 });
    await untilJob(queue, id, (job) => job.state === "done");
    expect(store.eventsAfter(id, 0, 100).map(({ text }) => JSON.parse(text).state)).toContain("lost");
  }
  await queue.close();
  store.close();
});

it("a job is not deleted while its end is being recorded", async () => {
  const launcher = new ScriptedLauncher();
  const store = new JobStore(join(folder, "jobs.sqlite"));
  const queue = new JobQueue({ store, launcher, folder: join(folder, "jobs"), pollMs: 10, retryMs: 2 });
  await queue.recover();
  const { id } = queue.submit(TRAIN);
  await untilJob(queue, id, (job) => job.state === "running");
  // Whoever follows the job hears of its end in the midst of that.
  const refused = new Promise((resolve) => {
    queue.subscribe(id, () => {
      if (queue.get(id).state === "lost") queue.remove(id).then(() => resolve(null), resolve);
    });
  });
  launcher.end(launcher.launched[0]!, { kind: "signal", signal: "SIGTERM" });
  expect(await refused).toMatchObject({
    status: 409,
    message: `job ${id}: its end is being recorded: try again`,
  });
  await untilJob(queue, id, (job) => job.state === "running" && job.attempt === 2);
  await queue.close();
  store.close();
});
