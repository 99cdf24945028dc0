/** Events of a worker's run on their way into the page: checked a few at a time, passed on a few times per second. */

import { type ReadEvent, readJobEvent } from "../../../../protocol/job-event.ts";
import { ENDED } from "../../../../protocol/job-state.ts";
import type { LoopEvent } from "../../../../protocol/loop-event.ts";
import { nextTask } from "../../../base/next-task.ts";
import type { Mark } from "../run.ts";
import { patchRun, takeEvents } from "../runs-store.ts";
import type { ServerEvent } from "./event-stream.ts";
import { withMark, withUnread } from "./fold.ts";

/** What is read of an event of the stream. */
export type StreamEvent = Pick<ServerEvent, "event" | "data">;

/** Milliseconds of reading after which the thread is given back. */
const SLICE_MS = 8;
/** Events that come within this time are drawn together; the second while more are waiting than can be read in it. */
const TELL_MS = 100;
const BEHIND_MS = 400;

/** Takes what comes in its order. Thousands of events may come at once: keys and frames go in between. */
export class Inbox {
  readonly #taken: Taken;
  readonly #signal: AbortSignal;
  readonly #slice: number;
  readonly #events: StreamEvent[] = [];
  #taking: Promise<void> | null = null;

  /** @param signal what has not been taken when it aborts is left. */
  constructor(id: string, signal: AbortSignal, slice = SLICE_MS) {
    this.#taken = new Taken(id);
    this.#signal = signal;
    this.#slice = slice;
  }

  put(event: StreamEvent): void {
    this.#events.push(event);
    this.#taking ??= this.#take();
  }

  /** Resolves when everything that was put is in the run. */
  async emptied(): Promise<void> {
    await this.#taking;
  }

  async #take(): Promise<void> {
    let told = Number.NEGATIVE_INFINITY;
    while (this.#events.length > 0) {
      await nextTask();
      if (this.#signal.aborted) break;
      let read = 0;
      const until = performance.now() + this.#slice;
      do this.#taken.read(this.#events[read++]!);
      while (read < this.#events.length && performance.now() < until);
      this.#events.splice(0, read);
      if (this.#events.length === 0) {
        // More may be on the way.
        const rest = told + TELL_MS - performance.now();
        if (rest > 0) await new Promise((resolve) => setTimeout(resolve, rest));
      }
      if (performance.now() - told < (this.#events.length > 0 ? BEHIND_MS : TELL_MS)) continue;
      this.#taken.tell();
      told = performance.now();
    }
    if (!this.#signal.aborted) this.#taken.tell();
    this.#taking = null;
  }
}

/** One event of a job's stream; a mark says where one could not be read. */
export function take(id: string, event: StreamEvent): void {
  const taken = new Taken(id);
  taken.read(event);
  taken.tell();
}

type StateEvent = Extract<ReadEvent, { type: "state" }>;

/**
 * A message is gone with the next state of the job. What should stay of it: what befell the job while it stayed in its
 * state, and what ended an attempt of it that did not stay the last one.
 */
function faultBetween(before: StateEvent | null, now: StateEvent): Omit<Mark, "step"> | null {
  if (before?.state === now.state)
    return now.message === null ? null : { kind: "fault", at: now.at, text: now.message };
  if (before?.message == null || (before.state !== "failed" && before.state !== "lost")) return null;
  return { kind: "fault", at: before.at, text: `${before.state}: ${before.message}` };
}

/** Events in their order; consecutive ones of the loop are passed on together. */
class Taken {
  readonly #id: string;
  #waiting: { event: LoopEvent; time: string }[] = [];
  #before: StateEvent | null = null;

  constructor(id: string) {
    this.#id = id;
  }

  read({ event: type, data }: StreamEvent): void {
    if (type !== "state" && type !== "progress") return;
    const read = readJobEvent(type, data);
    if ("problem" in read) {
      this.tell();
      patchRun(this.#id, ({ figures }) => ({ figures: withUnread(figures, read.problem) }));
    } else if (read.type === "state") {
      this.tell();
      this.#takeState(read);
    } else if (read.event !== null) this.#waiting.push({ event: read.event, time: read.at });
  }

  #takeState(now: StateEvent): void {
    const { state, message, at } = now;
    const fault = faultBetween(this.#before, now);
    this.#before = now;
    patchRun(this.#id, ({ figures }) => ({
      ...{ state, message, ended: ENDED.includes(state) ? at : null },
      figures: fault === null ? figures : withMark(figures, fault),
    }));
  }

  /** Puts what was read into the run. */
  tell(): void {
    if (this.#waiting.length > 0) takeEvents(this.#id, this.#waiting);
    this.#waiting = [];
  }
}
