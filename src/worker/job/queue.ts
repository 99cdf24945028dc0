/** The life of jobs: one at a time in each lane, each as a run of the launcher, through restarts of the worker. */
import { randomBytes } from "node:crypto";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { passingFault } from "../../node/file-error.ts";
import { writeWholeSync } from "../../node/whole-file.ts";
import { ApiError } from "../http/errors.ts";
import { tell } from "../tell.ts";
import { commandArgs, configPath } from "./command.ts";
import { ACTIVE, ENDED, type JobRequest, type JobState, RESUMABLE } from "./job.ts";
import { JobFolders } from "./job-folders.ts";
import { type Launcher, OUTPUT_FILE, type Run, type RunEnd, type RunSpec } from "./launcher.ts";
import { lastLine, readLines, toEvent } from "./output.ts";
import { reasonOf } from "./reason.ts";
import { describeEnd, interruption, isInterruption } from "./run-end.ts";
import { type JobPatch, type JobStore, LANES, type Lane, laneOf, type StoredJob } from "./store.ts";
import { StoreFault } from "./store-fault.ts";

export interface JobQueueOptions {
  store: JobStore;
  launcher: Launcher;
  /** Folder with a folder for each job. */
  folder: string;
  /** Milliseconds between two looks at a run's output. */
  pollMs?: number;
  /** Milliseconds before what met a fault is tried again. */
  retryMs?: number;
}

/** A lost job goes on by itself this many times without any progress; then a person has to say so. */
const MAX_FRUITLESS = 3;

/** So often the rest of an ended run's output is looked for; a job cannot wait for its disk for ever. */
const FINAL_READS = 30;

/** So often a folder that cannot be used is tried at the start; a bad sector of one job must not keep all others. */
const TIDY_TRIES = 5;

/** One attempt of a job, from before its launch until its end is written down. */
interface Attempt {
  lane: Lane;
  /** Null until it has begun. */
  run: Run | null;
  /** Its process is gone, or there never was one: it holds its lane no more. */
  over: boolean;
  settled: Promise<void>;
}

/**
 * Following a run and running are two things. A fault of the disk or of the store keeps the queue from following: it is
 * told, and what met it is tried again. A job is over when its process is, never because of such a fault.
 */
export class JobQueue {
  readonly #store: JobStore;
  readonly #launcher: Launcher;
  readonly folders: JobFolders;
  readonly #pollMs: number;
  readonly #retryMs: number;
  readonly #attempts = new Map<string, Attempt>();
  /** What each job waits out at present. */
  readonly #faults = new Map<string, string>();
  /** What of the store each job waits out, and since when. */
  readonly #outages = new Map<string, { line: string; since: string }>();
  readonly #listeners = new Map<string, Set<() => void>>();
  #startLater: NodeJS.Timeout | null = null;
  #closing = false;
  /** Until the runs of a previous worker are known, none may start. */
  #recovered = false;

  constructor(options: JobQueueOptions) {
    this.#store = options.store;
    this.#launcher = options.launcher;
    this.folders = new JobFolders(options.folder, options.store);
    this.#pollMs = options.pollMs ?? 150;
    this.#retryMs = options.retryMs ?? 1000;
  }

  /** Faults that are waited out at present, a line each. */
  get faults(): string[] {
    const { fault } = this.#store;
    const jobs = [...this.#faults].map(([id, line]) => `job ${id}: ${line}`);
    return fault === null ? jobs : [fault, ...jobs];
  }

  get closing(): boolean {
    return this.#closing;
  }

  /**
   * Takes in jobs that only their folders know, finds every run of a previous worker again, settles those that ended,
   * and starts what waits. Call once.
   */
  async recover(): Promise<void> {
    let tries = 0;
    const active = await this.#until(
      async () => {
        tries += 1;
        await this.folders.tidy(tries < TIDY_TRIES);
        return this.#store.inStates(ACTIVE);
      },
      (error) => {
        if (!(error instanceof StoreFault))
          tell(`${this.folders.path}: ${reasonOf(error)}; it is tried again`);
      },
    );
    if (active === null) return;
    const looks = active.map(
      (job) => new Promise<void>((looked) => this.#track(job, () => this.#find(job, looked), looked)),
    );
    this.#recovered = true;
    await Promise.all(looks);
    this.#startWaiting();
  }

  /**
   * Puts a job in the queue; it starts at once when its lane is free.
   *
   * @throws ApiError 409; 503 when its config cannot be written
   */
  submit(request: JobRequest): StoredJob {
    const given = request.kind === "train" ? request.id : undefined;
    const id = given ?? `${request.kind}-${randomBytes(6).toString("hex")}`;
    if (this.#store.get(id) !== null) throw new ApiError(409, `job ${id}: there is one of this id already`);
    if (request.kind === "train" && typeof request.config === "object") {
      const { config } = request;
      this.folders.onDisk(id, () => {
        mkdirSync(join(this.folders.path, id), { recursive: true });
        writeWholeSync(
          configPath(request, this.folders.outFolder(id)),
          `${JSON.stringify(config, null, 2)}\n`,
        );
      });
    }
    const job = this.#store.create(id, request);
    this.folders.record(job);
    this.#startWaiting();
    return this.#latest(job);
  }

  /** @throws ApiError 404 */
  get(id: string): StoredJob {
    const job = this.#store.get(id);
    if (job === null) throw new ApiError(404, `job ${JSON.stringify(id)}: there is no such job`);
    return job;
  }

  /** The job's command line, word by word. */
  command({ id, request }: StoredJob): string[] {
    return ["gcopd", ...commandArgs(request, this.folders.outFolder(id))];
  }

  /**
   * Gives a training job another title, in whatever state it is: people tell runs apart by it, and nothing else does.
   * @throws ApiError 404; 409 for a scoring job, which has none.
   */
  rename(id: string, title: string): StoredJob {
    const { request } = this.get(id);
    if (request.kind !== "train") throw new ApiError(409, `job ${id}: only training jobs have a title`);
    const job = this.#store.setRequest(id, { ...request, title });
    if (job === null) return this.get(id);
    this.folders.record(job);
    return job;
  }

  /** Id of the job that has the device which a request would wait for; null when it would start at once. */
  runningBeside(request: JobRequest): string | null {
    const lane = laneOf(request);
    return [...this.#attempts].find(([, attempt]) => attempt.lane === lane && !attempt.over)?.[0] ?? null;
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
    const waiting = this.#move(id, ["queued"], "cancelled", { ended_at: now() });
    if (waiting !== null) return waiting;
    const message = "it ends after its present step";
    const asked = this.#move(id, ["starting", "running"], "cancelling", { message });
    if (asked === null) return this.#cancelling(id);
    this.#attempts.get(id)?.run?.stop({ patient: true });
    return asked;
  }

  /**
   * Takes an ended job away, with everything that it wrote.
   * @throws ApiError 404; 409 while it has not ended; 503 when its folder cannot be moved.
   */
  async remove(id: string): Promise<void> {
    const { state } = this.get(id);
    if (!ENDED.includes(state) || this.#attempts.has(id))
      throw new ApiError(409, `job ${id}: it is ${state}: cancel it first`);
    await this.folders.remove(id, () => this.#store.remove(id));
    this.#notify(id);
    await this.folders.removeAside(id);
  }

  /**
   * Asks a job to stop. One that waits is cancelled at once; one that runs is `cancelling` until its process is gone,
   * and `cancelled` then. Asking again changes nothing.
   * @throws ApiError 404; 409 when the job has ended.
   */
  cancel(id: string): StoredJob {
    const waiting = this.#move(id, ["queued"], "cancelled", { ended_at: now() });
    if (waiting !== null) return waiting;
    const asked = this.#move(id, ["starting", "running"], "cancelling") ?? this.#cancelling(id);
    this.#attempts.get(id)?.run?.stop();
    return asked;
  }

  /** The job, where it is `cancelling`. @throws ApiError 404; 409 when it has ended */
  #cancelling(id: string): StoredJob {
    const job = this.get(id);
    if (job.state !== "cancelling") throw new ApiError(409, `job ${id}: it is ${job.state} already`);
    return job;
  }

  /**
   * Puts an ended job back into the queue. A training run goes on from its last checkpoint; scoring begins again.
   *
   * @param memoryLimitGib takes the place of the request's own where it is given
   * @throws ApiError 404; 409 when the job is not cancelled, failed or lost.
   */
  resume(id: string, memoryLimitGib?: number): StoredJob {
    const { state, request } = this.get(id);
    const moved = this.#move(id, RESUMABLE, "queued", {
      ...{ ended_at: null, exit_code: null, fruitless: 0 },
      ...(memoryLimitGib === undefined ? {} : { request: { ...request, memory_limit_gib: memoryLimitGib } }),
    });
    if (moved === null)
      throw new ApiError(409, `job ${id}: it is ${state}; expected ${RESUMABLE.join(", ")}`);
    this.#startWaiting();
    return this.#latest(moved);
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
    if (this.#startLater !== null) clearTimeout(this.#startLater);
    for (const id of this.#listeners.keys()) this.#notify(id);
    for (const { run } of this.#attempts.values()) run?.stop();
    await Promise.all([...this.#attempts.values()].map(({ settled }) => settled));
  }

  /** The job as it is now; as it was when the store cannot be asked. What was done is confirmed all the same. */
  #latest(job: StoredJob): StoredJob {
    try {
      return this.get(job.id);
    } catch (error) {
      if (error instanceof StoreFault) return job;
      throw error;
    }
  }

  #spec(job: StoredJob): RunSpec {
    const args = commandArgs(job.request, this.folders.outFolder(job.id));
    return {
      job: job.id,
      attempt: job.attempt,
      args,
      folder: this.folders.attemptFolder(job.id, job.attempt),
    };
  }

  #move(id: string, from: readonly JobState[], to: JobState, patch: JobPatch = {}): StoredJob | null {
    const moved = this.#store.transition(id, from, to, patch);
    if (moved === null) return null;
    if (to === "queued" || ENDED.includes(to)) this.folders.record(moved);
    this.#notify(id);
    return moved;
  }

  #notify(id: string): void {
    for (const listener of [...(this.#listeners.get(id) ?? [])]) listener();
  }

  /** Starts the first of each lane that is free. */
  #startWaiting(): void {
    if (this.#closing || !this.#recovered) return;
    try {
      for (const lane of LANES) {
        if ([...this.#attempts.values()].some((attempt) => attempt.lane === lane && !attempt.over)) continue;
        const job = this.#store.firstQueued(lane);
        // Its last attempt may still be waiting to be written down.
        if (job !== null && !this.#attempts.has(job.id)) this.#start(job);
      }
    } catch (error) {
      if (!(error instanceof StoreFault)) tell(`no job could be started: ${reasonOf(error)}`);
      this.#startLater ??= setTimeout(() => {
        this.#startLater = null;
        this.#startWaiting();
      }, this.#retryMs);
    }
  }

  #start({ id, attempt }: StoredJob): void {
    const job = this.#move(id, ["queued"], "starting", {
      ...{ attempt: attempt + 1, output_offset: 0, started_at: now(), ended_at: null },
    });
    if (job !== null) this.#track(job, () => this.#launch(job));
  }

  /** Sees a job through one attempt: to a run, along it, and to its end. `begin` gives null where there is no run. */
  #track({ id, lane }: StoredJob, begin: () => Promise<Begun | null>, looked = () => {}): void {
    const attempt: Attempt = { lane, run: null, over: false, settled: Promise.resolve() };
    this.#attempts.set(id, attempt);
    attempt.settled = (async () => {
      const begun = await begin();
      if (begun !== null) await this.#follow(id, attempt, begun, looked);
    })()
      .catch((error: unknown) => tell(`job ${id}: ${error instanceof Error ? error.stack : String(error)}`))
      .finally(() => {
        this.#attempts.delete(id);
        this.#faults.delete(id);
        this.#outages.delete(id);
        looked();
        this.#startWaiting();
      });
  }

  /** Launches a job's run; null when the job was withdrawn, or could not be run. */
  async #launch(job: StoredJob): Promise<Begun | null> {
    const { id } = job;
    for (;;) {
      try {
        mkdirSync(this.folders.outFolder(id), { recursive: true });
        return { run: await this.#launcher.launch(this.#spec(job)), message: null };
      } catch (error) {
        const passing = passingFault(error);
        if (passing === null) {
          const failed = { message: `it could not be run: ${reasonOf(error)}`, ended_at: now() };
          await this.#until(
            () =>
              this.#move(id, ["cancelling"], "cancelled", failed) ??
              this.#move(id, ["starting"], "failed", failed),
          );
          return null;
        }
        this.#fault(id, `it cannot be started yet: ${passing}`);
      }
      await sleep(this.#retryMs);
      const withdrawn = await this.#until(() => this.#withdrawn(id));
      if (withdrawn !== null) return null;
    }
  }

  /** Takes down that a job which has no run yet will have none; null when it still should. */
  #withdrawn(id: string): StoredJob | null {
    const message = "it had not begun";
    const cancelled = this.#move(id, ["cancelling"], "cancelled", { ended_at: now(), message });
    if (cancelled !== null || !this.#closing) return cancelled;
    return this.#move(id, ["starting"], "queued", { message: "the worker was closed before it began" });
  }

  /** Finds the run of a job that a previous worker started; null when it never began. `looked` after a first fault. */
  async #find(job: StoredJob, looked: () => void): Promise<Begun | null> {
    return this.#until(
      async () => {
        const recovered = await this.#launcher.recover(this.#spec(job));
        if (recovered.kind === "running")
          return { run: recovered.run, message: "the worker was started again; the run went on meanwhile" };
        if (recovered.kind === "ended") return { run: null, end: recovered.end };
        const message = "the worker was started again before the run began";
        if (this.#withdrawn(job.id) === null) this.#move(job.id, ACTIVE, "queued", { message });
        return null;
      },
      (error) => {
        this.#fault(job.id, `it is not known whether its process is there: ${reasonOf(error)}`, error);
        looked();
      },
    );
  }

  /** `work`, again and again until it meets no fault; null when the worker closes before. */
  async #until<T>(work: () => T | Promise<T>, told: (error: unknown) => void = () => {}): Promise<T | null> {
    for (;;) {
      try {
        return await work();
      } catch (error) {
        told(error);
      }
      if (this.#closing) return null;
      await sleep(this.#retryMs);
    }
  }

  /** Tells what keeps a job from being followed or started: in the log, among the worker's faults, and on the job. */
  #fault(id: string, line: string, error?: unknown): void {
    // The store tells its own; on the job it can be told once it is over.
    if (error instanceof StoreFault) {
      if (!this.#outages.has(id)) this.#outages.set(id, { line: error.message, since: now() });
      return;
    }
    if (this.#faults.get(id) === line) return;
    this.#faults.set(id, line);
    tell(`job ${id}: ${line}; it is tried again`);
    this.#say(id, `${line}; it is tried again`);
  }

  /** What a job waited out is over. */
  #faultOver(id: string): void {
    const outage = this.#outages.get(id);
    if (outage !== undefined) this.#say(id, `waited out since ${outage.since}: ${outage.line}`);
    const waited = this.#outages.delete(id);
    if (this.#faults.delete(id) || waited) this.#say(id, null);
  }

  /** A message on an active job, where the store takes it. */
  #say(id: string, message: string | null): void {
    try {
      const job = this.get(id);
      if (ACTIVE.includes(job.state) && job.message !== message)
        this.#move(id, [job.state], job.state, { message });
    } catch {
      // The log has it.
    }
  }

  /** Follows a run to its end, through every fault, and writes down how it ended. `looked` after the first look. */
  async #follow(id: string, attempt: Attempt, begun: Begun, looked: () => void): Promise<void> {
    attempt.run = begun.run;
    let end = begun.run === null ? begun.end : null;
    let noted = false;
    for (let reads = 1; ; ) {
      const final = end !== null;
      attempt.over = final;
      let pauseMs = this.#pollMs;
      try {
        if (!noted) this.#note(id, begun);
        noted = true;
        const unread = this.#drainOr(id, final, reads === FINAL_READS);
        if (unread === null) this.#faultOver(id);
        if (end !== null) {
          this.#settle(id, end, unread);
          return;
        }
      } catch (error) {
        pauseMs = this.#retryMs;
        const what = final
          ? "its process has ended; its output cannot be read"
          : "its output cannot be read now";
        this.#fault(id, `${what}: ${reasonOf(error)}`, error);
        if (final && this.#closing) return;
        if (final && !(error instanceof StoreFault)) reads += 1;
        // The lane is free.
        if (final) this.#startWaiting();
      }
      looked();
      const pause = sleep(pauseMs, null);
      end ??= begun.run === null ? await pause : await Promise.race([begun.run.ended, pause]);
      if (final) await pause;
    }
  }

  /** Writes down that a run is there. Whoever cancelled it meanwhile found none to stop. */
  #note(id: string, { run, message }: Begun): void {
    if (run === null) return;
    const found = { run: run.name, message };
    if (this.#move(id, ["starting", "running"], "running", found) === null) {
      if (message !== null) this.#move(id, ["cancelling"], "cancelling", found);
      run.stop();
    }
    if (this.#closing) run.stop();
  }

  /** `#drain`; the last time, what keeps the output from being read is returned in place of being thrown. */
  #drainOr(id: string, final: boolean, last: boolean): string | null {
    try {
      this.#drain(id, final);
      return null;
    } catch (error) {
      if (error instanceof StoreFault || !last) throw error;
      return `its output could not be read to its end: ${reasonOf(error)}`;
    }
  }

  /** Turns new output into events. */
  #drain(id: string, final: boolean): void {
    for (let more = true; more; ) {
      const job = this.get(id);
      const file = join(this.folders.attemptFolder(id, job.attempt), OUTPUT_FILE);
      const part = readLines(file, job.outputOffset, { final });
      more = part.more;
      if (part.offset === job.outputOffset) return;
      const events = part.lines.map(toEvent).filter((event) => event !== null);
      this.#store.appendOutput(id, events, part.offset);
      this.#notify(id);
    }
  }

  /** Writes down how a run ended. Done again after a fault it does what is left to do. */
  #settle(id: string, end: RunEnd, unread: string | null): void {
    const { state, attempt } = this.get(id);
    const ended = { ended_at: now(), exit_code: end.kind === "exit" ? end.code : null };
    const message = (...parts: (string | null)[]) =>
      [...parts, unread].filter((part) => part !== null).join("; ") || null;
    if (end.kind === "exit" && end.code === 0) {
      const late = state === "cancelling" ? "it was done before it could be cancelled" : null;
      this.#move(id, ACTIVE, "done", { ...ended, message: message(late) });
    } else if (state === "cancelling") {
      this.#move(id, ACTIVE, "cancelled", { ...ended, message: message() });
    } else if (this.#closing || isInterruption(end)) {
      const why = this.#closing && !end.memory ? "stopped because the worker was closed" : interruption(end);
      this.#move(id, ACTIVE, "lost", { ...ended, message: message(why) });
      if (!end.memory) this.#resumeByItself(this.get(id));
    } else {
      const log = this.#lastWords(id, attempt);
      const how = describeEnd(end);
      this.#move(id, ACTIVE, "failed", {
        ...ended,
        message: message(log === null ? how : `${log} (${how})`),
      });
    }
  }

  /** What the command said last on its standard error. */
  #lastWords(id: string, attempt: number): string | null {
    try {
      return lastLine(this.folders.logFile(id, attempt));
    } catch (error) {
      return `its log cannot be read: ${reasonOf(error)}`;
    }
  }

  #resumeByItself(job: StoredJob): void {
    if (job.state !== "lost" || job.request.resume !== "auto") return;
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

/** A run that has begun, or what is known of one that has ended. */
type Begun = { run: Run; message: string | null } | { run: null; message?: undefined; end: RunEnd };

function now(): string {
  return new Date().toISOString();
}
