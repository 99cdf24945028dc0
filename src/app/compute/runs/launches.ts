/** Runs that the worker launched on targets: listed every few seconds, and what they print read from where it ended. */

import { create } from "zustand";
import { ENDED, RESUMABLE } from "../../../protocol/job-state.ts";
import { type LoopEvent, readLoopEvent } from "../../../protocol/loop-event.ts";
import type { CheckStep } from "../../../protocol/target.ts";
import { describeFault } from "../../base/faults.ts";
import { poll } from "../../base/poll.ts";
import { WorkerAway } from "../../data/files/read-answer.ts";
import { runTitle } from "../training/internal/training-data.ts";
import { checkConfig } from "./config-fields.ts";
import { withUnread } from "./internal/fold.ts";
import { launchedState } from "./internal/launched-state.ts";
import type { Run } from "./run.ts";
import { dropRun, getRuns, newRun, patchRun, putRun, takeEvents } from "./runs-store.ts";
import type { Launched, Target } from "./worker-answers.ts";
import { type WorkerClient, worker } from "./worker-client.ts";

const LIST_MS = 4000;

/** What checks of a target found. */
export interface TargetCheck {
  /** Of the last one that was answered; null where none was. */
  steps: readonly CheckStep[] | null;
  isGoing: boolean;
  /** Why the last one was not answered; null where it was. */
  problem: string | null;
}

const UNCHECKED: TargetCheck = { steps: null, isGoing: false, problem: null };

interface TargetsState {
  /** Where they are kept; null until they were read. */
  file: string | null;
  targets: Readonly<Record<string, Target>>;
  /** Why they, or the runs on them, cannot be read. */
  problem: string | null;
  /** By target, where it was checked. */
  checks: Readonly<Record<string, TargetCheck>>;
}

export const useTargets = create<TargetsState>(() => ({
  file: null,
  targets: {},
  problem: null,
  checks: {},
}));

/** How far what a run printed was read. */
interface Read {
  attempt: number;
  from: number;
  over: boolean;
}

/** A run as the API gave it. */
export function takeLaunched(launched: Launched): void {
  const { id, config, created_at: created, words, reason, problem, as_of: asOf } = launched;
  const known = getRuns().runs[id];
  const title = launched.title ?? known?.title ?? titleOf(launched);
  const state = launchedState(launched);
  putRun({
    ...(known ?? newRun({ id, where: "target", title, config: config ?? {}, created })),
    title,
    state,
    message: problem ?? [words, reason].filter(Boolean).join("; "),
    ended: ENDED.includes(state) ? asOf : null,
    launched,
    stream: ENDED.includes(state) ? "closed" : "live",
  });
}

function titleOf({ id, config }: Launched): string {
  const checked = config === null ? null : checkConfig(config).config;
  return checked === null ? id : runTitle(checked);
}

/** Whether it can go on, or be submitted at last. */
export const canResume = ({ state, launched }: Run): boolean =>
  RESUMABLE.includes(state) && (launched === undefined || launched.doing === null);

function takePrinted(id: string, printed: readonly Record<string, unknown>[]): void {
  const events: LoopEvent[] = [];
  for (const data of printed) {
    const event = readLoopEvent(data);
    if (event === null) continue;
    if (!("problem" in event)) events.push(event);
    else patchRun(id, ({ figures }) => ({ figures: withUnread(figures, event.problem) }));
  }
  if (events.length > 0)
    takeEvents(
      id,
      events.map((event) => ({ event, time: null })),
    );
}

/** The targets of the worker, and the runs on them. */
export class Launches {
  readonly #reading = new Map<string, Read>();
  /** The check of each target that is under way, or was the last one. */
  readonly #checks = new Map<string, object>();

  constructor(private readonly worker: WorkerClient) {}

  /** Follows them for as long as the page lives. */
  follow(): () => void {
    if (!this.worker.servesPage()) return () => undefined;
    const stop = poll(() => this.refresh(), LIST_MS);
    return () => {
      stop();
      this.#reading.clear();
    };
  }

  /** Reads targets and runs now. */
  async refresh(): Promise<void> {
    try {
      const before = getRuns().runs;
      const [{ file, targets }, launches] = await Promise.all([
        this.worker.targets(),
        this.worker.launches(),
      ]);
      useTargets.setState({ file, targets, problem: null });
      for (const launched of launches) takeLaunched(launched);
      const there = new Set(launches.map(({ id }) => id));
      // One that was launched meanwhile is not in the list.
      for (const { id, where } of Object.values(before))
        if (where === "target" && !there.has(id)) this.forget(id);
      await Promise.all(launches.map((launched) => this.#readPrinted(launched)));
    } catch (error) {
      // A worker that is gone is told of where its own runs are.
      useTargets.setState({ problem: error instanceof WorkerAway ? null : describeFault(error) });
    }
  }

  /** A run that is not listed any more. */
  forget(id: string): void {
    this.#reading.delete(id);
    dropRun(id);
  }

  /** What a run printed since, attempt by attempt. */
  async #readPrinted({ id, attempt: newest, submitted }: Launched): Promise<void> {
    const read = this.#reading.get(id) ?? { attempt: 1, from: 0, over: false };
    this.#reading.set(id, read);
    if (!submitted) return;
    for (;;) {
      if (read.over && read.attempt >= newest) return;
      if (read.over) Object.assign(read, { attempt: read.attempt + 1, from: 0, over: false });
      const { events, next, more, over } = await this.worker.printed(id, read.attempt, read.from);
      if (this.#reading.get(id) !== read) return;
      takePrinted(
        id,
        events.filter(({ type }) => type === "progress").map(({ data }) => data),
      );
      Object.assign(read, { from: next, over });
      if (!more && !over) return;
    }
  }

  /** Adds a target, or replaces one. @throws InputError that names the key */
  async saveTarget(name: string, target: object, replace: boolean): Promise<void> {
    const { file, targets } = await this.worker.addTarget(name, target, replace);
    this.#checks.delete(name);
    useTargets.setState(({ checks: { [name]: _old, ...checks } }) => ({ file, targets, checks }));
  }

  /** Tries every step that a run needs on a target; what the check before found stays where this one is not answered. */
  async checkTarget(name: string): Promise<void> {
    const mine = {};
    this.#checks.set(name, mine);
    const put = (change: Partial<TargetCheck>): void => {
      // A target that was saved meanwhile is another one.
      if (this.#checks.get(name) !== mine) return;
      useTargets.setState(({ checks }) => ({
        checks: { ...checks, [name]: { ...(checks[name] ?? UNCHECKED), ...change } },
      }));
    };
    put({ isGoing: true, problem: null });
    try {
      put({ isGoing: false, steps: await this.worker.checkTarget(name) });
    } catch (error) {
      put({ isGoing: false, problem: describeFault(error) });
    }
  }

  /** Takes over a run that another machine launched. */
  async importRun(target: string, folder: string): Promise<string> {
    const launched = await this.worker.importLaunched(target, folder);
    takeLaunched(launched);
    return launched.id;
  }
}

export const launches = new Launches(worker);
