/** Keeps the runs of the worker as they are there: its list every few seconds, the events of each as they happen. */

import { InputError } from "../../../core/errors.ts";
import { ENDED } from "../../../protocol/job-state.ts";
import { poll } from "../../base/poll.ts";
import { serverEvents } from "./internal/event-stream.ts";
import { withGap } from "./internal/fold.ts";
import { Inbox } from "./internal/inbox.ts";
import { NO_FIGURES, type Run } from "./run.ts";
import { dropRun, getRuns, newRun, patchRun, putRun, useRuns } from "./runs-store.ts";
import type { Job } from "./worker-answers.ts";
import { type WorkerClient, worker } from "./worker-client.ts";

/** Milliseconds between two looks at the list, and between two tries to connect again. */
const LIST_MS = 4000;
const AGAIN_MS = 1500;
/** The worker sends something every 15 s. */
const SILENT_MS = 45_000;

/** Follows the worker's list, and each run on it. */
export class WorkerFollower {
  readonly #following = new Map<string, AbortController>();

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
      for (const controller of this.#following.values()) controller.abort();
      this.#following.clear();
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
      for (const { id, where } of Object.values(before))
        if (where === "worker" && !there.has(id) && jobs.length < 200) this.#forget(id);
      // Set last: until the list is read, a run that is not in it may still be there.
      if (found !== null) useRuns.setState(({ worker: state }) => ({ worker: { ...state, ...found } }));
    } catch (error) {
      const problem = error instanceof InputError ? error.message : null;
      useRuns.setState(({ worker: state }) => ({ worker: { ...state, status: "lost", problem } }));
    }
  }

  async #whatIsThere() {
    const { worker } = this;
    const asked = [worker.files(), worker.device(), worker.simulator()] as const;
    const [files, device, simulator] = await Promise.all(asked);
    return { status: "there", problem: null, files, simulator, device: device.message } as const;
  }

  #forget(id: string): void {
    this.#following.get(id)?.abort();
    this.#following.delete(id);
    dropRun(id);
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
    if (known === undefined || again) void this.#followRun(id);
  }

  async #followRun(id: string): Promise<void> {
    this.#following.get(id)?.abort();
    const controller = new AbortController();
    this.#following.set(id, controller);
    const { signal } = controller;
    // From its first event: a run that went on has begun its figures before. Where it was not followed stays marked.
    patchRun(id, ({ figures }) => ({
      figures: { ...NO_FIGURES, marks: figures.marks.filter(({ kind }) => kind === "gap") },
      events: [],
      stream: "live",
    }));
    let last: string | null = null;
    let lostAt: Date | null = null;
    const inbox = new Inbox(id, signal);
    while (!signal.aborted) {
      // A worker that is there says so now and then: one that says nothing is not, whatever the connection looks like.
      const silence = new Silence(SILENT_MS);
      try {
        const answer = await this.worker.events(id, last, AbortSignal.any([signal, silence.signal]));
        if (lostAt !== null) {
          const from = lostAt;
          patchRun(id, ({ figures }) => ({ stream: "live", figures: withGap(figures, from, new Date()) }));
          lostAt = null;
        }
        if (answer.status === 204 || answer.body === null) break;
        for await (const event of serverEvents(answer.body, () => silence.broken())) {
          if (event.id !== null) last = event.id;
          inbox.put(event);
        }
        await inbox.emptied();
        const state = getRuns().runs[id]?.state;
        if (state === undefined || ENDED.includes(state)) break;
      } catch {
        if (signal.aborted) return;
      } finally {
        silence.end();
        await inbox.emptied();
      }
      // The stream broke, or the worker was closed: it is asked for what is missing until it is there again.
      lostAt ??= new Date();
      patchRun(id, { stream: "lost" });
      await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
    }
    // Whoever gave it up, or follows it again, says what becomes of it.
    if (signal.aborted) return;
    this.#following.delete(id);
    patchRun(id, { stream: "closed" });
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
