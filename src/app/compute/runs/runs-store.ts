/** All runs that the page knows of, and the worker. */
import { create } from "zustand";
import type { Files } from "../../../protocol/files.ts";
import type { LoopEvent } from "../../../protocol/loop-event.ts";
import type { ScienceWorldInfo } from "../../../simulator/session-contract.ts";
import { remember, remembered } from "../../base/remembered.ts";
import type { TrainingState } from "../store.ts";
import { foldEvents } from "./internal/fold.ts";
import { type Figures, NO_FIGURES, type Run } from "./run.ts";

export interface WorkerState {
  /** `none`: no worker serves this page; `lost`: it does not answer now, or not in a form that the page can read. */
  status: "none" | "asking" | "there" | "lost";
  /** What is wrong with its answer, in one line; null while there is none. */
  problem: string | null;
  /** What it computes on, in words. */
  device: string;
  files: Files | null;
  /** ScienceWorld, where the worker plays it. */
  simulator: ScienceWorldInfo | null;
  /** Its scoring jobs that have not ended: they are not runs. */
  scoreJobs: readonly Pick<Run, "id" | "title" | "state">[];
}

interface RunsState {
  runs: Readonly<Record<string, Run>>;
  worker: WorkerState;
  /** The run that was started last in this tab. */
  latest: string | null;
  /** Runs of earlier visits were read. */
  restored: boolean;
}

/** Names the latest run over a reload. */
const LATEST = "gcopd-latest-run";

export const useRuns = create<RunsState>(() => ({
  runs: {},
  worker: { status: "asking", problem: null, device: "", files: null, simulator: null, scoreJobs: [] },
  latest: remembered(LATEST, "tab") || null,
  restored: false,
}));

useRuns.subscribe(({ latest }, before) => {
  if (latest !== before.latest) remember(LATEST, latest ?? "", "tab");
});

export const getRuns = useRuns.getState;

export function newRun(run: Pick<Run, "id" | "where" | "title" | "config"> & Partial<Run>): Run {
  return {
    command: null,
    state: "queued",
    message: null,
    created: new Date().toISOString(),
    ended: null,
    events: [],
    figures: NO_FIGURES,
    stream: "closed",
    ...run,
  };
}

export function putRun(run: Run): void {
  useRuns.setState(({ runs }) => ({ runs: { ...runs, [run.id]: run } }));
}

export function patchRun(id: string, change: Partial<Run> | ((run: Run) => Partial<Run>)): void {
  useRuns.setState(({ runs }) => {
    const run = runs[id];
    if (run === undefined) return {};
    return { runs: { ...runs, [id]: { ...run, ...(typeof change === "function" ? change(run) : change) } } };
  });
}

export function dropRun(id: string): void {
  useRuns.setState(({ runs }) => {
    const { [id]: _gone, ...rest } = runs;
    return { runs: rest };
  });
}

/** Takes one event of the loop into a run; `work` is shown and not kept. */
export function takeEvent(id: string, event: LoopEvent, time: string): void {
  takeEvents(id, [{ event, time }]);
}

/** Takes events in their order, with one change of the store. */
export function takeEvents(id: string, taken: readonly { event: LoopEvent; time: string | null }[]): void {
  patchRun(id, (run) => {
    const events = [...run.events];
    for (const { event, time } of taken) if (event.type !== "work") events.push({ time, ...event });
    return {
      figures: foldEvents(
        run.figures,
        taken.map(({ event, time }) => ({ time, ...event })),
      ),
      events,
    };
  });
}

/** How far the page's own run is; nowhere while it has no run, or measures only the time of one. */
export function ownFigures(
  { status, run }: Pick<TrainingState, "status" | "run">,
  runs: Readonly<Record<string, Run>>,
): Figures {
  const isProbe = status === "probing" || status === "probe-cancelling";
  return (isProbe || run === null ? null : runs[run]?.figures) ?? NO_FIGURES;
}

/** Newest first. */
export function sortedRuns(runs: Readonly<Record<string, Run>>): Run[] {
  return Object.values(runs).sort((a, b) => b.created.localeCompare(a.created) || a.id.localeCompare(b.id));
}

/** The kind, a dash and 12 hexadecimal digits. */
export function newRunId(kind: "page" | "train" | "collect" | "evaluate"): string {
  const bytes = crypto.getRandomValues(new Uint8Array(6));
  return `${kind}-${[...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}
