/** Keeps the runs of the worker as they are there: its list every few seconds, the events of each as they happen. */

import { ENDED, type JobState } from "../../../protocol/job-state.ts";
import { poll } from "../../base/poll.ts";
import { Turns } from "../../base/turns.ts";
import { isRefusal } from "../../data/files/read-answer.ts";
import { serverEvents } from "./internal/event-stream.ts";
import { withGap } from "./internal/fold.ts";
import { Inbox } from "./internal/inbox.ts";
import { NO_FIGURES, type Run } from "./run.ts";
import { dropRun, getRuns, newRun, patchRun, putRun, useRuns } from "./runs-store.ts";
import type { Job } from "./worker-answers.ts";
import { LISTED, type WorkerClient, worker } from "./worker-client.ts";

/** Milliseconds between two looks at the list, and between two tries to connect again. */
const LIST_MS = 4000;
const AGAIN_MS = 1500;
/** The worker sends something every 15 s. */
const SILENT_MS = 45_000;

/** A run whose events are followed. */
interface Followed {
  /** Gives it up. */
  controller: AbortController;
  inbox: Inbox;
  /** Id of the last event that came; 0 before the first. */
  last: number;
  /** Since when the worker has not answered for it. */
  lostAt: Date | null;
  /** Ends the connection that it has. */
  connection: AbortController | null;
  /** Its events are to be read, or are being read. */
  isAsked: boolean;
}

/**
 * Follows the worker's list, and each run on it. A browser has six connections to a host, for all of its tabs: so only one
 * run's events come as they happen, and those of others are read when the list says that there are more.
 */
export class WorkerFollower {
  readonly #following = new Map<string, Followed>();
  /** The connection that stays open, and the run that has it. */
  #live: { id: string } | null = null;
  /** The events of others are read one run after the other. */
  readonly #readings = new Turns();

  constructor(private readonly worker: WorkerClient) {}

  /** Follows the worker for as long as the page lives. */
  follow(): () => void {
    if (!this.worker.servesPage()) {
      useRuns.setState(({ worker: state }) => ({ worker: { ...state, status: "none" } }));
      return () => undefined;
    }
    const stop = poll(() => this.refresh(), LIST_MS);
    return () => {
      stop();
      for (const id of this.#following.keys()) this.#giveUp(id);
    };
  }

  /** Reads the worker's list now. */
  async refresh(): Promise<void> {
    const { worker } = this;
    try {
      const found = getRuns().worker.status === "there" ? null : await this.#whatIsThere();
      const before = getRuns().runs;
      const all = await worker.jobs();
      const jobs = all.filter(({ request }) => request.kind === "train");
      noteScoreJobs(all);
      for (const job of jobs) {
        // A run that ended while the list was on its way is not as the list says any more.
        if (getRuns().runs[job.id]?.state === before[job.id]?.state) this.takeJob(job);
      }
      const there = new Set(jobs.map(({ id }) => id));
      // One that was submitted meanwhile is not in the list.
      for (const { id, where } of Object.values(before)) {
        if (where !== "worker" || there.has(id)) continue;
        if (all.length < LISTED) this.#forget(id);
        // It is further down: whether it has more events is not known.
        else this.#readSoon(id);
      }
      // Set last: until the list is read, a run that is not in it may still be there.
      if (found !== null) useRuns.setState(({ worker: state }) => ({ worker: { ...state, ...found } }));
    } catch (error) {
      const problem = isRefusal(error) ? error.message : null;
      useRuns.setState(({ worker: state }) => ({ worker: { ...state, status: "lost", problem } }));
      // The one that is followed as it happens finds out by itself.
      for (const id of this.#following.keys()) {
        const state = getRuns().runs[id]?.state;
        if (id !== this.#live?.id && state !== undefined && !ENDED.includes(state)) this.#lose(id);
      }
    }
  }

  async #whatIsThere() {
    const { worker } = this;
    const asked = [worker.files(), worker.device(), worker.simulator()] as const;
    const [files, device, simulator] = await Promise.all(asked);
    return { status: "there", problem: null, files, simulator, device: device.message } as const;
  }

  #forget(id: string): void {
    this.#giveUp(id);
    dropRun(id);
  }

  #giveUp(id: string): void {
    this.#following.get(id)?.controller.abort();
    this.#following.delete(id);
    if (this.#live?.id === id) this.#live = null;
  }

  /** A job as the API gave it, and its events from here on. */
  takeJob(job: Job): void {
    const { id, state, request, message, created_at: created, ended_at: ended, command } = job;
    const known = getRuns().runs[id];
    const asked = typeof request.config === "object" ? request.config : { config: request.config };
    const title = request.title ?? id;
    const run: Run = {
      ...(known ?? newRun({ id, where: "worker", title, config: asked, created })),
      title,
    };
    const again = known !== undefined && ENDED.includes(known.state) && !ENDED.includes(state);
    putRun({ ...run, command, ...(this.#following.has(id) && !again ? {} : { state, message, ended }) });
    if (known === undefined || again) this.#begin(id);
    this.#look(job);
  }

  #begin(id: string): void {
    this.#giveUp(id);
    const controller = new AbortController();
    const inbox = new Inbox(id, controller.signal);
    this.#following.set(id, { controller, inbox, last: 0, lostAt: null, connection: null, isAsked: false });
    // From its first event: a run that went on has begun its figures before. Where it was not followed stays marked.
    patchRun(id, ({ figures }) => ({
      figures: { ...NO_FIGURES, marks: figures.marks.filter(({ kind }) => kind === "gap") },
      events: [],
      stream: "live",
    }));
  }

  /** Reads the events that a job has and its run lacks; as they happen if the job goes on and no other has the connection. */
  #look({ id, state, last_event: last }: Job): void {
    const followed = this.#following.get(id);
    if (followed === undefined || followed.isAsked || this.#live?.id === id) return;
    if (!ENDED.includes(state) && this.#takesLive(state)) void this.#stream(id, followed);
    else if (last > followed.last || followed.lostAt !== null) this.#readSoon(id);
    else if (ENDED.includes(state)) this.#close(id);
  }

  /** Reads the events that a run lacks, once its turn comes. */
  #readSoon(id: string): void {
    const followed = this.#following.get(id);
    if (followed === undefined || followed.isAsked || this.#live?.id === id) return;
    followed.isAsked = true;
    void this.#readings.take(async () => {
      await this.#read(id, followed);
      followed.isAsked = false;
    });
  }

  /** Whether a run of this state may have the connection that stays open: one that waits gives way to one that does not. */
  #takesLive(state: JobState): boolean {
    if (this.#live === null) return true;
    const { id } = this.#live;
    if (state === "queued" || getRuns().runs[id]?.state !== "queued") return false;
    const before = this.#following.get(id);
    this.#live = null;
    before?.connection?.abort();
    return true;
  }

  async #stream(id: string, followed: Followed): Promise<void> {
    const mine = { id };
    const isLive = (): boolean => this.#live === mine;
    this.#live = mine;
    while (isLive()) {
      await this.#read(id, followed, isLive);
      // The stream broke, or the worker was closed: it is asked for what is missing until it is there again.
      if (isLive()) await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
    }
  }

  /**
   * Reads a run's events from the last one on.
   *
   * @param isLive also those to come, until the connection ends: it should not while this holds
   */
  async #read(id: string, followed: Followed, isLive?: () => boolean): Promise<void> {
    const { controller, inbox, last } = followed;
    // A worker that is there says so now and then: one that says nothing is not, whatever the connection looks like.
    const silence = new Silence(SILENT_MS);
    const connection = new AbortController();
    followed.connection = connection;
    let [isBroken, isOver] = [false, false];
    try {
      const signal = AbortSignal.any([controller.signal, connection.signal, silence.signal]);
      signal.throwIfAborted();
      const answer = await this.worker.events(
        id,
        last === 0 ? null : String(last),
        isLive !== undefined,
        signal,
      );
      const { lostAt } = followed;
      if (lostAt !== null)
        patchRun(id, ({ figures }) => ({ stream: "live", figures: withGap(figures, lostAt, new Date()) }));
      followed.lostAt = null;
      if (answer.body !== null)
        for await (const event of serverEvents(answer.body, () => silence.broken())) {
          if (event.id !== null) followed.last = Number(event.id);
          inbox.put(event);
        }
      await inbox.emptied();
      const state = getRuns().runs[id]?.state;
      isOver = answer.status === 204 || state === undefined || ENDED.includes(state);
    } catch {
      isBroken = true;
    } finally {
      silence.end();
      await inbox.emptied();
      // By now a later stream may have another.
      if (followed.connection === connection) followed.connection = null;
    }
    // Whoever gave it up, or follows it again, says what becomes of it.
    if (controller.signal.aborted) return;
    if (isOver) this.#close(id);
    else if (isLive === undefined ? isBroken : isLive()) this.#lose(id);
  }

  /** No more of its events come. */
  #close(id: string): void {
    this.#giveUp(id);
    patchRun(id, { stream: "closed" });
  }

  #lose(id: string): void {
    const followed = this.#following.get(id);
    if (followed === undefined) return;
    followed.lostAt ??= new Date();
    patchRun(id, { stream: "lost" });
  }
}

export const workerFollower = new WorkerFollower(worker);

function noteScoreJobs(jobs: readonly Job[]): void {
  const scoreJobs = jobs
    .filter(({ request, state }) => request.kind === "score" && !ENDED.includes(state))
    .map(({ id, request, state }) => ({ id, title: request.title ?? id, state }));
  const { worker: known } = getRuns();
  if (JSON.stringify(scoreJobs) !== JSON.stringify(known.scoreJobs))
    useRuns.setState({ worker: { ...known, scoreJobs } });
}

/** Aborts when nothing was heard for so long. */
class Silence {
  readonly #controller = new AbortController();
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly ms: number) {
    this.broken();
  }
  get signal(): AbortSignal {
    return this.#controller.signal;
  }
  /** Something was heard. */
  broken(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#controller.abort(), this.ms);
  }
  end(): void {
    clearTimeout(this.#timer);
  }
}
