/** `kill -9` of a real worker process at every stage of a job: nothing is lost, nothing runs twice. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { rawPlugin } from "../../scripts/build.mjs";
import { PACKAGE } from "../node/package-root.ts";
import { JobStore } from "./job/store.ts";
import { FAKE_CLI, Harness, states } from "./testing/harness.ts";

let bundle: string;
let harness: Harness;
let worker: ChildProcess | null = null;

beforeAll(async () => {
  // Below node_modules, so that the bundle finds the packages it imports.
  bundle = mkdtempSync(join(PACKAGE.root, "node_modules", ".gcopd-worker-test-"));
  await build({
    entryPoints: [join(PACKAGE.root, "src/worker/testing/serve.ts")],
    outfile: join(bundle, "serve.mjs"),
    ...{ bundle: true, format: "esm", platform: "node", target: "node20", packages: "external" },
    plugins: [rawPlugin],
  });
});
afterAll(() => rmSync(bundle, { recursive: true, force: true }));

beforeEach(() => {
  harness = new Harness();
});
afterEach(async () => {
  await killWorker();
  for (const folder of folders()) {
    const pid = pidOf(folder);
    if (pid > 0) killRun(pid);
  }
  await harness.remove();
});

async function startWorker(): Promise<void> {
  worker = spawn(process.execPath, [join(bundle, "serve.mjs"), harness.dataDir, harness.pageDir, FAKE_CLI], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [line] = (await once(createInterface(worker.stdout!), "line")) as [string];
  harness.use(JSON.parse(line) as { url: string; token: string });
}

async function killWorker(): Promise<void> {
  if (worker === null) return;
  const exit = once(worker, "exit");
  worker.kill("SIGKILL");
  await exit;
  worker = null;
}

/** Folders of all attempts. */
function folders(): string[] {
  const jobs = join(harness.dataDir, "jobs");
  return readdirSync(jobs).flatMap((id) =>
    readdirSync(join(jobs, id))
      .filter((name) => name.startsWith("attempt-"))
      .map((name) => join(jobs, id, name)),
  );
}

function pidOf(folder: string): number {
  try {
    return Number(readFileSync(join(folder, "pid"), "utf8")) || 0;
  } catch {
    return 0;
  }
}

/** Only while the process is this run's: its id may have been given to another. */
function killRun(pid: number): void {
  try {
    const linux = existsSync("/proc/self/cmdline");
    if (linux && !readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(harness.folder)) return;
    process.kill(-pid, "SIGKILL");
  } catch {
    // Gone.
  }
}

function attemptFolder(id: string, attempt: number): string {
  return join(harness.dataDir, "jobs", id, `attempt-${attempt}`);
}

function runs(id: string): number {
  return readFileSync(join(harness.dataDir, "jobs", id, "out", "runs"), "utf8")
    .trimEnd()
    .split("\n").length;
}

async function stepsOf(id: string): Promise<unknown[]> {
  const events = await harness.events(id);
  return events.filter((event) => event.event === "progress").map((event) => event.data.step);
}

it("a run that outlives the worker is found again and followed to its end", async () => {
  await startWorker();
  const { path, hold } = harness.config({ steps: 5, holdAt: 2 });
  const { id } = await harness.train(path);
  const waiting = await harness.train(harness.config({ steps: 1 }).path);
  const before = await harness.events(id, undefined, (event) => event.data.step === 2);
  await killWorker();
  await startWorker();

  const found = await harness.job(id);
  expect(found).toMatchObject({ state: "running", attempt: 1 });
  expect(found.message).toContain("the run went on");
  expect((await harness.job(waiting.id)).state).toBe("queued");

  harness.release(hold);
  const after = await harness.events(id, before.at(-1)!.id);
  expect(await harness.events(id)).toEqual([...before, ...after]);
  expect(states(after)).toEqual(["running", "done"]);
  expect(await stepsOf(id)).toEqual([1, 2, 3, 4, 5]);
  expect(await harness.job(id)).toMatchObject({ state: "done", exit_code: 0, attempt: 1 });
  expect(runs(id)).toBe(1);
  await harness.until(waiting.id, "done");
});

it("a run that ended meanwhile is done, with its exit code and all of its output", async () => {
  await startWorker();
  const good = harness.config({ steps: 4, holdAt: 1 });
  const bad = harness.config({ steps: 4, holdAt: 1, failAt: 3 });
  const first = await harness.train(good.path);
  const second = await harness.train(bad.path, { device: "cpu" });
  for (const { id } of [first, second]) await harness.untilJob(id, (job) => job.progress?.step === 1);
  await killWorker();
  harness.release(good.hold);
  harness.release(bad.hold);
  for (const { id } of [first, second]) {
    while (!readdirSync(attemptFolder(id, 1)).includes("exit")) await sleep(20);
  }
  await startWorker();

  expect(await harness.until(first.id, "done")).toMatchObject({ exit_code: 0, attempt: 1 });
  expect(await stepsOf(first.id)).toEqual([1, 2, 3, 4]);
  expect(runs(first.id)).toBe(1);
  expect(await harness.until(second.id, "failed")).toMatchObject({
    exit_code: 1,
    message: "gcopd: config.json, lr: expected a number (exit code 1)",
  });
  expect(await stepsOf(second.id)).toEqual([1, 2, 3]);
});

it("a run that was killed with the worker is lost; it goes on by itself, or waits when asked to", async () => {
  await startWorker();
  const auto = harness.config({ steps: 4, holdAt: 2 });
  const manual = harness.config({ steps: 4, holdAt: 2 });
  const first = await harness.train(auto.path);
  const second = await harness.train(manual.path, { device: "cpu", resume: "manual" });
  for (const { id } of [first, second]) await harness.untilJob(id, (job) => job.progress?.step === 2);
  await killWorker();
  for (const { id } of [first, second]) killRun(pidOf(attemptFolder(id, 1)));
  harness.release(auto.hold);
  harness.release(manual.hold);
  await startWorker();

  expect(await harness.until(first.id, "done")).toMatchObject({ attempt: 2 });
  expect(await stepsOf(first.id)).toEqual([1, 2, 3, 4]);
  expect(runs(first.id)).toBe(2);
  expect(states(await harness.events(first.id))).toEqual([
    ...["queued", "starting", "running", "lost"],
    ...["queued", "starting", "running", "done"],
  ]);
  expect(await harness.job(second.id)).toMatchObject({ state: "lost", attempt: 1, exit_code: null });
  expect(runs(second.id)).toBe(1);
});

it("a cancellation that the worker could not finish is finished by the next one", async () => {
  await startWorker();
  const { path } = harness.config({ steps: 4, holdAt: 1, ignoreTerm: true });
  const { id } = await harness.train(path);
  await harness.untilJob(id, (job) => job.progress?.step === 1);
  expect(await (await harness.post(`/api/jobs/${id}/cancel`)).json()).toMatchObject({ state: "cancelling" });
  await killWorker();
  await startWorker();
  await harness.until(id, "cancelled");
});

it("a job that was about to start, but did not, starts once", async () => {
  const { path } = harness.config({ steps: 1 });
  await startWorker();
  await killWorker();
  const store = new JobStore(join(harness.dataDir, "jobs.sqlite"));
  const request = { kind: "train", config: path, device: "webgpu", resume: "auto" } as const;
  store.create("train-000000000001", request);
  store.transition("train-000000000001", ["queued"], "starting", { attempt: 1, output_offset: 0 });
  store.close();
  await startWorker();
  expect(await harness.until("train-000000000001", "done")).toMatchObject({ attempt: 2 });
  expect(runs("train-000000000001")).toBe(1);
});

it("a run that the next worker withdrew does nothing when it comes late", async () => {
  const { path } = harness.config({ steps: 1 });
  await startWorker();
  const { id } = await harness.train(path);
  await harness.until(id, "done");
  // The same attempt again, as if its process had been slow to begin: its place is taken.
  const preload = pathToFileURL(join(PACKAGE.root, "bin/record-run.mjs"));
  preload.searchParams.set("folder", attemptFolder(id, 1));
  const out = join(harness.dataDir, "jobs", id, "out");
  const late = spawn(process.execPath, ["--import", preload.href, FAKE_CLI, "--config", path, "--out", out], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  let said = "";
  late.stderr.on("data", (chunk) => {
    said += String(chunk);
  });
  const [code] = (await once(late, "close")) as [number];
  expect(code).toBe(1);
  expect(said).toContain("withdrawn before it began");
  expect(runs(id)).toBe(1);
});

it("killed again and again at any moment, each job runs once and keeps all of its events", async () => {
  const ids: string[] = [];
  for (const delay of [0, 15, 40, 80, 130, 200]) {
    await startWorker();
    ids.push((await harness.train(harness.config({ steps: 3, delay: 30 }).path)).id);
    await sleep(delay);
    await killWorker();
  }
  await startWorker();
  for (const id of ids) {
    await harness.until(id, "done");
    expect(runs(id)).toBe(1);
    expect(await stepsOf(id)).toEqual([1, 2, 3]);
  }
});
