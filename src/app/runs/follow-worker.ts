/** Keeps the runs of the worker as they are there: its list every few seconds, the events of each as they happen. */

import { type ServerEvent, serverEvents } from "./event-stream.ts";
import { withGap, withUnread } from "./fold.ts";
import { ENDED, NO_FIGURES, type Run } from "./run.ts";
import { dropRun, getRuns, newRun, patchRun, putRun, takeEvent, useRuns } from "./runs-store.ts";
import { hasWorker, type Job, worker } from "./worker-client.ts";
import { readWorkerEvent } from "./worker-event.ts";

/** Milliseconds between two looks at the list, and between two tries to connect again. */
const LIST_MS = 4000;
const AGAIN_MS = 1500;

const following = new Map<string, AbortController>();
let timer: ReturnType<typeof setTimeout> | undefined;

/** Follows the worker for as long as the page lives. */
export function followWorker(): () => void {
  if (!hasWorker()) {
    useRuns.setState(({ worker: state }) => ({ worker: { ...state, status: "none" } }));
    return () => undefined;
  }
  let stopped = false;
  const look = async (): Promise<void> => {
    await refreshRuns();
    if (!stopped) timer = setTimeout(() => void look(), LIST_MS);
  };
  void look();
  return () => {
    stopped = true;
    clearTimeout(timer);
    for (const controller of following.values()) controller.abort();
    following.clear();
  };
}

/** Reads the worker's list now. */
export async function refreshRuns(): Promise<void> {
  try {
    const { worker: known } = getRuns();
    if (known.status !== "there") {
      const [files, device] = await Promise.all([worker.files(), worker.device()]);
      useRuns.setState({ worker: { status: "there", files, device: device.message } });
    }
    const jobs = (await worker.jobs()).filter(({ request }) => request.kind === "train");
    for (const job of jobs) takeJob(job);
    const there = new Set(jobs.map(({ id }) => id));
    for (const { id, where } of Object.values(getRuns().runs))
      if (where === "worker" && !there.has(id) && jobs.length < 200) forget(id);
  } catch {
    useRuns.setState(({ worker: state }) => ({ worker: { ...state, status: "lost" } }));
  }
}

function forget(id: string): void {
  following.get(id)?.abort();
  following.delete(id);
  dropRun(id);
}

/** A job as the API gave it, and its events from here on. */
export function takeJob(job: Job): void {
  const { id, state, request, message, created_at: created, ended_at: ended, command } = job;
  const known = getRuns().runs[id];
  const asked = typeof request.config === "object" ? request.config : { config: request.config };
  const run: Run =
    known ?? newRun({ id, where: "worker", title: request.title ?? id, config: asked, created });
  const again = known !== undefined && ENDED.includes(known.state) && !ENDED.includes(state);
  putRun({ ...run, command, ...(following.has(id) && !again ? {} : { state, message, ended }) });
  if (known === undefined || again) void follow(id);
}

async function follow(id: string): Promise<void> {
  following.get(id)?.abort();
  const controller = new AbortController();
  following.set(id, controller);
  const { signal } = controller;
  // From its first event: a run that went on has begun its figures before.
  patchRun(id, { figures: NO_FIGURES, events: [], stream: "live" });
  let last: string | null = null;
  let lostAt: Date | null = null;
  while (!signal.aborted) {
    try {
      const answer = await worker.events(id, last, signal);
      if (lostAt !== null) {
        const from = lostAt;
        patchRun(id, ({ figures }) => ({ stream: "live", figures: withGap(figures, from, new Date()) }));
        lostAt = null;
      }
      if (answer.status === 204 || answer.body === null) break;
      for await (const event of serverEvents(answer.body)) {
        if (event.id !== null) last = event.id;
        take(id, event);
      }
      const state = getRuns().runs[id]?.state;
      if (state === undefined || ENDED.includes(state)) break;
    } catch {
      if (signal.aborted) return;
    }
    // The stream broke, or the worker was closed: it is asked for what is missing until it is there again.
    lostAt ??= new Date();
    patchRun(id, { stream: "lost" });
    await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
  }
  if (following.get(id) === controller) following.delete(id);
  patchRun(id, { stream: "closed" });
}

/** One event of a job's stream; a mark says where one could not be read. */
export function take(id: string, { event: type, data }: Pick<ServerEvent, "event" | "data">): void {
  if (type !== "state" && type !== "progress") return;
  const read = readWorkerEvent(type, data);
  if ("problem" in read) {
    patchRun(id, ({ figures }) => ({ figures: withUnread(figures, read.problem) }));
  } else if (read.type === "state") {
    const { state, message, at } = read;
    patchRun(id, { state, message, ended: ENDED.includes(state) ? at : null });
  } else if (read.event !== null) takeEvent(id, read.event, read.at);
}
