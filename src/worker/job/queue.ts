/** The queue of jobs: one at a time in each lane, each as a run of the launcher, through restarts of the worker. */
import { randomBytes } from "node:crypto";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { writeWholeSync } from "../../node/whole-file.ts";
import type { JobRequest } from "../../protocol/job.ts";
import { ACTIVE, ENDED, RESUMABLE } from "../../protocol/job-state.ts";
import { ApiError } from "../http/errors.ts";
import { tell } from "../tell.ts";
import { findRun, launchRun } from "./begin-run.ts";
import { commandArgs, configPath } from "./command.ts";
import { type Attempt, followRun } from "./follow-run.ts";
import { JobFaults } from "./job-faults.ts";
import { JobFolders } from "./job-folders.ts";
import { JobList, now } from "./job-list.ts";
import type { Launcher } from "./launcher.ts";
import { reasonOf } from "./reason.ts";
import { type Begun, type RunContext, untilDone } from "./run-context.ts";
import { type JobStore, LANES, type Lane, laneOf, type StoredJob } from "./store.ts";
import { StoreFault } from "./store-fault.ts";

/** What a resumed job may take from now on. */
export interface ResumeChanges {
  memory_limit_gib?: number | undefined;
  /** Of a training run: wall-clock hours of all its attempts. */
  hours?: number | undefined;
}

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

/** So often a folder that cannot be used is tried at the start; a bad sector of one job must not keep all others. */
const TIDY_TRIES = 5;

/**
 * Following a run and running are two things. A fault of the disk or of the store keeps the queue from following: it is
 * told, and what met it is tried again. A job is over when its process is, never because of such a fault.
 */
export class JobQueue {
  readonly #store: JobStore;
  readonly folders: JobFolders;
  readonly #jobs: JobList;
  readonly #faults: JobFaults;
  readonly #context: RunContext;
  readonly #attempts = new Map<string, Attempt & { lane: Lane; settled: Promise<void> }>();
  #startLater: NodeJS.Timeout | null = null;
  readonly #closing = new AbortController();
  /** Until the runs of a previous worker are known, none may start. */
  #recovered = false;
  /** Jobs whose folders are being moved aside. */
  readonly #removing = new Set<string>();

  constructor({ store, launcher, folder, pollMs = 150, retryMs = 1000 }: JobQueueOptions) {
    this.#store = store;
    this.folders = new JobFolders(folder, store);
    this.#jobs = new JobList(store, this.folders);
    this.#faults = new JobFaults(this.#jobs);
    const { folders } = this;
    const [jobs, faults, closing] = [this.#jobs, this.#faults, this.#closing.signal];
    this.#context = { store, launcher, folders, jobs, faults, pollMs, retryMs, closing };
  }

  /** Faults that are waited out at present, one per line. */
  get faults(): string[] {
    const { fault } = this.#store;
    return fault === null ? this.#faults.lines : [fault, ...this.#faults.lines];
  }

  get closing(): boolean {
    return this.#closing.signal.aborted;
  }

  /**
   * Takes in jobs that only their folders know, finds every run of a previous worker again, settles those that ended,
   * and starts what waits. Call once.
   */
  async recover(): Promise<void> {
    let tries = 0;
    const active = await untilDone(
      this.#context,
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
      (job) =>
        new Promise<void>((looked) => this.#track(job, () => findRun(this.#context, job, looked), looked)),
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
    if (this.#store.get(id) !== null) throw new ApiError(409, `job ${id}: already exists`);
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
    return this.#jobs.latest(job);
  }

  /** @throws ApiError 404 */
  get(id: string): StoredJob {
    return this.#jobs.get(id);
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

  /** Whether there is a job with this id. */
  has(id: string): boolean {
    return this.#store.get(id) !== null;
  }

  /**
   * Asks a job to stop after its present step, however long that takes. `cancel` after it ends it at once.
   * @throws ApiError 404; 409 when the job has ended.
   */
  stop(id: string): StoredJob {
    const waiting = this.#jobs.move(id, ["queued"], "cancelled", { ended_at: now() });
    if (waiting !== null) return waiting;
    const message = "it ends after its present step";
    const asked = this.#jobs.move(id, ["starting", "running"], "cancelling", { message });
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
    if (!ENDED.includes(state)) {
      const next = state === "cancelling" ? "wait until it is cancelled" : "cancel it first";
      throw new ApiError(409, `job ${id}: it is ${state}: ${next}`);
    }
    if (this.#attempts.has(id)) throw new ApiError(409, `job ${id}: its end is being recorded: try again`);
    this.#requireKept(id);
    this.#removing.add(id);
    try {
      await this.folders.remove(id, () => this.#store.remove(id));
    } finally {
      this.#removing.delete(id);
    }
    this.#jobs.notify(id);
    await this.folders.removeAside(id);
  }

  /**
   * Asks a job to stop. One that waits is cancelled at once; one that runs is `cancelling` until its process is gone,
   * and `cancelled` then. Asking again changes nothing.
   * @throws ApiError 404; 409 when the job has ended.
   */
  cancel(id: string): StoredJob {
    const waiting = this.#jobs.move(id, ["queued"], "cancelled", { ended_at: now() });
    if (waiting !== null) return waiting;
    const asked = this.#jobs.move(id, ["starting", "running"], "cancelling") ?? this.#cancelling(id);
    this.#attempts.get(id)?.run?.stop();
    return asked;
  }

  /** @throws ApiError 409 while the job is being taken away */
  #requireKept(id: string): void {
    if (this.#removing.has(id)) throw new ApiError(409, `job ${id}: it is being deleted`);
  }

  /** The job, where it is `cancelling`. @throws ApiError 404; 409 when it has ended */
  #cancelling(id: string): StoredJob {
    const job = this.get(id);
    if (job.state === "cancelling") return job;
    const ended = job.state === "failed" ? "has already failed" : `is already ${job.state}`;
    throw new ApiError(409, `job ${id}: it ${ended}`);
  }

  /**
   * Puts an ended job back into the queue. A training run goes on from its last checkpoint, scoring after what it has kept.
   *
   * @param changes take the place of the request's own
   * @throws ApiError 404; 409 when the job is not cancelled, failed or lost.
   */
  resume(id: string, { hours, memory_limit_gib }: ResumeChanges = {}): StoredJob {
    const { state, request } = this.get(id);
    this.#requireKept(id);
    if (hours !== undefined && request.kind !== "train")
      throw new ApiError(409, `job ${id}: only a training run has a budget`);
    const limited = memory_limit_gib === undefined ? request : { ...request, memory_limit_gib };
    const changed = limited.kind === "train" && hours !== undefined ? { ...limited, hours } : limited;
    const moved = this.#jobs.move(id, RESUMABLE, "queued", {
      ...{ ended_at: null, exit_code: null, fruitless: 0 },
      request: changed,
    });
    if (moved === null)
      throw new ApiError(409, `job ${id}: it is ${state}; expected ${RESUMABLE.join(", ")}`);
    this.#startWaiting();
    return this.#jobs.latest(moved);
  }

  /** Calls back after each new event of a job; returns the way to stop that. */
  subscribe(id: string, listener: () => void): () => void {
    return this.#jobs.subscribe(id, listener);
  }

  /** Stops every run and waits until it is gone. Jobs with `resume: "auto"` go on when a worker starts again. */
  async close(): Promise<void> {
    this.#closing.abort();
    if (this.#startLater !== null) clearTimeout(this.#startLater);
    this.#jobs.notifyAll();
    for (const { run } of this.#attempts.values()) run?.stop();
    await Promise.all([...this.#attempts.values()].map(({ settled }) => settled));
  }

  /** Starts the first of each lane that is free. */
  #startWaiting(): void {
    if (this.closing || !this.#recovered) return;
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
      }, this.#context.retryMs);
    }
  }

  #start({ id, attempt }: StoredJob): void {
    const job = this.#jobs.move(id, ["queued"], "starting", {
      ...{ attempt: attempt + 1, output_offset: 0, started_at: now(), ended_at: null },
    });
    if (job !== null) this.#track(job, () => launchRun(this.#context, job));
  }

  /** Sees a job through one attempt: to a run, along it, and to its end. `begin` gives null where there is no run. */
  #track({ id, lane }: StoredJob, begin: () => Promise<Begun | null>, looked = () => {}): void {
    const attempt = { lane, run: null, over: false, settled: Promise.resolve() };
    this.#attempts.set(id, attempt);
    attempt.settled = (async () => {
      const begun = await begin();
      if (begun !== null)
        await followRun(this.#context, id, attempt, begun, { looked, freed: () => this.#startWaiting() });
    })()
      .catch((error: unknown) => tell(`job ${id}: ${error instanceof Error ? error.stack : String(error)}`))
      .finally(() => {
        this.#attempts.delete(id);
        this.#faults.forget(id);
        looked();
        this.#startWaiting();
      });
  }
}
