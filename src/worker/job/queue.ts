/** The life of jobs: one at a time in each lane, each as a run of the launcher, through restarts of the worker. */
import { randomBytes } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ApiError } from "../http/errors.ts";
import { commandArgs, configPath } from "./command.ts";
import { ACTIVE, ENDED, type JobRequest, type JobState, RESUMABLE, TRAIN_ID } from "./job.ts";
import { type Launcher, LOG_FILE, OUTPUT_FILE, type Run, type RunEnd, type RunSpec } from "./launcher.ts";
import { lastLine, readLines, toEvent } from "./output.ts";
import { type JobStore, laneOf, type StoredJob } from "./store.ts";

export interface JobQueueOptions {
  store: JobStore;
  launcher: Launcher;
  /** Folder with a folder for each job. */
  folder: string;
  /** Milliseconds between two looks at a run's output. */
  pollMs?: number;
}

/** A lost job goes on by itself this many times without any progress; then a person has to say so. */
const MAX_FRUITLESS = 3;

const UNUSED_MS = 24 * 3600 * 1000;

export class JobQueue {
  readonly #store: JobStore;
  readonly #launcher: Launcher;
  readonly #folder: string;
  readonly #pollMs: number;
  /** Jobs with a run (null while it is being launched), and the work that follows it. */
  readonly #runs = new Map<string, { lane: string; run: Run | null; settled: Promise<void> }>();
  readonly #listeners = new Map<string, Set<() => void>>();
  #closing = false;
  /** Until the runs of a previous worker are known, none may start. */
  #recovered = false;

  constructor(options: JobQueueOptions) {
    this.#store = options.store;
    this.#launcher = options.launcher;
    this.#folder = options.folder;
    this.#pollMs = options.pollMs ?? 150;
  }

  get closing(): boolean {
    return this.#closing;
  }

  /** Folder of a job's results. */
  outFolder(id: string): string {
    return join(this.#folder, id, "out");
  }

  /** Standard error of a job's attempt. */
  logFile(id: string, attempt: number): string {
    return join(this.#attemptFolder(id, attempt), LOG_FILE);
  }

  /** Finds every run of a previous worker again, settles those that ended, and starts what waits. Call once. */
  async recover(): Promise<void> {
    for (const job of this.#store.inStates(ACTIVE)) {
      const recovered = await this.#launcher.recover(this.#spec(job));
      if (recovered.kind === "running") {
        const message = "the worker was started again; the run went on meanwhile";
        this.#move(job.id, [job.state], job.state === "starting" ? "running" : job.state, {
          message,
          run: recovered.run.name,
        });
        if (job.state === "cancelling") recovered.run.stop();
        this.#track(job, Promise.resolve(recovered.run));
      } else if (recovered.kind === "ended") {
        this.#settle(job.id, recovered.end);
      } else if (job.state === "cancelling") {
        this.#move(job.id, ACTIVE, "cancelled", { ended_at: now(), message: "it had not begun" });
      } else {
        this.#move(job.id, ACTIVE, "queued", {
          message: "the worker was started again before the run began",
        });
      }
    }
    await this.#removeUnusedInputs();
    this.#recovered = true;
    this.#startWaiting();
  }

  /** Puts a job in the queue; it starts at once when its lane is free. */
  submit(request: JobRequest): StoredJob {
    const given = request.kind === "train" ? request.id : undefined;
    const id = given ?? `${request.kind}-${randomBytes(6).toString("hex")}`;
    if (this.#store.get(id) !== null) throw new ApiError(409, `job ${id}: there is one of this id already`);
    if (request.kind === "train" && typeof request.config === "object") {
      mkdirSync(join(this.#folder, id), { recursive: true });
      writeFileSync(configPath(request, this.outFolder(id)), `${JSON.stringify(request.config, null, 2)}\n`);
    }
    this.#store.create(id, request);
    this.#startWaiting();
    return this.get(id);
  }

  /** @throws ApiError 404 */
  get(id: string): StoredJob {
    const job = this.#store.get(id);
    if (job === null) throw new ApiError(404, `job ${JSON.stringify(id)}: there is no such job`);
    return job;
  }

  /** The job's command line, word by word. */
  command({ id, request }: StoredJob): string[] {
    return ["gcopd", ...commandArgs(request, this.outFolder(id))];
  }

  /** Folder of files that a job reads, sent before it was submitted. */
  inputFolder(id: string): string {
    return join(this.#folder, id, "in");
  }

  /**
   * Gives a training job another title, in whatever state it is: people tell runs apart by it, and nothing else does.
   * @throws ApiError 404; 409 for a scoring job, which has none.
   */
  rename(id: string, title: string): StoredJob {
    const { request } = this.get(id);
    if (request.kind !== "train") throw new ApiError(409, `job ${id}: only training jobs have a title`);
    this.#store.setRequest(id, { ...request, title });
    return this.get(id);
  }

  /** Id of the job that has the device which a request would wait for; null when it would start at once. */
  runningBeside(request: JobRequest): string | null {
    const lane = laneOf(request);
    return [...this.#runs].find(([, run]) => run.lane === lane)?.[0] ?? null;
  }

  /** Whether there is a job of this id. */
  has(id: string): boolean {
    return this.#store.get(id) !== null;
  }

  /**
   * Asks a job to stop after its present step, however long that takes. `cancel` after it ends it at once.
   * @throws ApiError 404; 409 when the job has ended.
   */
  stop(id: string): StoredJob {
    const job = this.get(id);
    if (this.#move(id, ["queued"], "cancelled", { ended_at: now() })) return this.get(id);
    const message = "it ends after its present step";
    if (this.#move(id, ["starting", "running"], "cancelling", { message }))
      this.#runs.get(id)?.run?.stop({ patient: true });
    else if (job.state !== "cancelling") throw new ApiError(409, `job ${id}: it is ${job.state} already`);
    return this.get(id);
  }

  /**
   * Takes an ended job away, with everything that it wrote.
   * @throws ApiError 404; 409 while it has not ended.
   */
  async remove(id: string): Promise<void> {
    const { state } = this.get(id);
    if (!ENDED.includes(state) || this.#runs.has(id))
      throw new ApiError(409, `job ${id}: it is ${state}: cancel it first`);
    this.#store.remove(id);
    this.#notify(id);
    await rm(join(this.#folder, id), { recursive: true, force: true });
  }

  /**
   * Asks a job to stop. One that waits is cancelled at once; one that runs is `cancelling` until its process is gone,
   * and `cancelled` then. Asking again changes nothing.
   * @throws ApiError 404; 409 when the job has ended.
   */
  cancel(id: string): StoredJob {
    const job = this.get(id);
    if (this.#move(id, ["queued"], "cancelled", { ended_at: now() })) return this.get(id);
    if (this.#move(id, ["starting", "running"], "cancelling") || job.state === "cancelling")
      this.#runs.get(id)?.run?.stop();
    else throw new ApiError(409, `job ${id}: it is ${job.state} already`);
    return this.get(id);
  }

  /**
   * Puts an ended job back into the queue. A training run goes on from its last checkpoint; scoring begins anew.
   * @throws ApiError 404; 409 when the job is not cancelled, failed or lost.
   */
  resume(id: string): StoredJob {
    const { state } = this.get(id);
    const moved = this.#move(id, RESUMABLE, "queued", { ended_at: null, exit_code: null, fruitless: 0 });
    if (!moved) throw new ApiError(409, `job ${id}: it is ${state}; expected ${RESUMABLE.join(", ")}`);
    this.#startWaiting();
    return this.get(id);
  }

  /** Calls back after each new event of a job; returns the way to stop that. */
  subscribe(id: string, listener: () => void): () => void {
    const listeners = this.#listeners.get(id) ?? new Set();
    this.#listeners.set(id, listeners.add(listener));
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0) this.#listeners.delete(id);
    };
  }

  /** Stops every run and waits until it is gone. Jobs with `resume: "auto"` go on when a worker starts again. */
  async close(): Promise<void> {
    this.#closing = true;
    for (const id of this.#listeners.keys()) this.#notify(id);
    for (const { run } of this.#runs.values()) run?.stop();
    await Promise.all([...this.#runs.values()].map(({ settled }) => settled));
  }

  /** Inputs that no job was submitted for within a day. */
  async #removeUnusedInputs(): Promise<void> {
    for (const id of await readdir(this.#folder).catch(() => [])) {
      const folder = join(this.#folder, id);
      if (!TRAIN_ID.test(id) || this.has(id)) continue;
      const { mtimeMs } = await stat(folder);
      if (Date.now() - mtimeMs > UNUSED_MS) await rm(folder, { recursive: true, force: true });
    }
  }

  #attemptFolder(id: string, attempt: number): string {
    return join(this.#folder, id, `attempt-${attempt}`);
  }

  #spec(job: StoredJob): RunSpec {
    const args = commandArgs(job.request, this.outFolder(job.id));
    return { job: job.id, attempt: job.attempt, args, folder: this.#attemptFolder(job.id, job.attempt) };
  }

  #move(
    id: string,
    from: readonly JobState[],
    to: JobState,
    patch: Parameters<JobStore["transition"]>[3] = {},
  ) {
    const moved = this.#store.transition(id, from, to, patch);
    if (moved) this.#notify(id);
    return moved;
  }

  #notify(id: string): void {
    for (const listener of [...(this.#listeners.get(id) ?? [])]) listener();
  }

  #startWaiting(): void {
    if (this.#closing || !this.#recovered) return;
    const busy = new Set([...this.#runs.values()].map(({ lane }) => lane));
    for (const job of this.#store.inStates(["queued"])) {
      if (busy.has(job.lane)) continue;
      busy.add(job.lane);
      this.#start(job.id, job.attempt + 1);
    }
  }

  #start(id: string, attempt: number): void {
    this.#move(id, ["queued"], "starting", { attempt, output_offset: 0, started_at: now(), ended_at: null });
    const job = this.get(id);
    const launched = (async () => {
      mkdirSync(this.outFolder(id), { recursive: true });
      const run = await this.#launcher.launch(this.#spec(job));
      // A cancel that came meanwhile found no run to stop.
      if (!this.#move(id, ["starting"], "running", { run: run.name }) || this.#closing) run.stop();
      return run;
    })();
    this.#track(job, launched);
  }

  /** Follows a run to its end. */
  #track(job: StoredJob, launched: Promise<Run>): void {
    const entry = { lane: job.lane, run: null as Run | null, settled: Promise.resolve() };
    this.#runs.set(job.id, entry);
    const follow = async () => {
      const run = await launched;
      entry.run = run;
      let end: RunEnd | null = null;
      while (end === null) {
        this.#drain(job.id, false);
        end = await Promise.race([run.ended, sleep(this.#pollMs, null)]);
      }
      this.#settle(job.id, end);
    };
    entry.settled = follow()
      .catch((error: unknown) => {
        const message = error instanceof Error ? error.message : String(error);
        const failed = { message: `it could not be run: ${message}`, ended_at: now() };
        if (!this.#move(job.id, ["cancelling"], "cancelled", failed))
          this.#move(job.id, ACTIVE, "failed", failed);
      })
      .finally(() => {
        this.#runs.delete(job.id);
        this.#startWaiting();
      });
  }

  /** Turns new output into events. */
  #drain(id: string, final: boolean): void {
    for (let more = true; more; ) {
      const job = this.get(id);
      const file = join(this.#attemptFolder(id, job.attempt), OUTPUT_FILE);
      const part = readLines(file, job.outputOffset, { final });
      more = part.more;
      if (part.offset === job.outputOffset) return;
      const events = part.lines.map(toEvent).filter((event) => event !== null);
      this.#store.appendOutput(id, events, part.offset);
      this.#notify(id);
    }
  }

  /** Takes the rest of the output and writes down how the run ended. */
  #settle(id: string, end: RunEnd): void {
    this.#drain(id, true);
    const job = this.get(id);
    const ended = { ended_at: now(), exit_code: end.kind === "exit" ? end.code : null };
    if (end.kind === "exit" && end.code === 0) {
      const message = job.state === "cancelling" ? "it was done before it could be cancelled" : null;
      this.#move(id, ACTIVE, "done", { ...ended, message });
    } else if (job.state === "cancelling") {
      this.#move(id, ACTIVE, "cancelled", ended);
    } else if (this.#closing || isInterruption(end)) {
      const message = this.#closing
        ? "stopped because the worker was closed"
        : end.kind === "unknown"
          ? "it is gone and left no exit code (killed, or the machine went down)"
          : `it was interrupted from outside (${describeEnd(end)})`;
      this.#move(id, ACTIVE, "lost", { ...ended, message });
      this.#resumeByItself(job);
    } else {
      const log = lastLine(this.logFile(id, job.attempt));
      const how = describeEnd(end);
      this.#move(id, ACTIVE, "failed", { ...ended, message: log === null ? how : `${log} (${how})` });
    }
  }

  #resumeByItself(job: StoredJob): void {
    if (job.request.resume !== "auto") return;
    if (job.fruitless >= MAX_FRUITLESS) {
      const message = `lost ${MAX_FRUITLESS + 1} times without progress: resume it by hand`;
      this.#move(job.id, ["lost"], "lost", { message });
      return;
    }
    // Closing the worker is no fault of the job's.
    const fruitless = job.fruitless + (this.#closing ? 0 : 1);
    this.#move(job.id, ["lost"], "queued", { message: "it goes on by itself", ended_at: null, fruitless });
  }
}

/** Ended by something that says nothing about the job itself: a shutdown, a terminal's end, a power cut. */
function isInterruption(end: RunEnd): boolean {
  if (end.kind === "signal")
    return end.signal === "SIGINT" || end.signal === "SIGTERM" || end.signal === "SIGHUP";
  // The shell's way to say SIGINT and SIGTERM, and the commands'.
  return end.kind === "unknown" || end.code === 130 || end.code === 143;
}

function describeEnd(end: RunEnd): string {
  if (end.kind === "exit") return `exit code ${end.code}`;
  return end.kind === "signal" ? `ended by ${end.signal}` : "no exit code";
}

function now(): string {
  return new Date().toISOString();
}
