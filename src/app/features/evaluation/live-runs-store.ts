/** The collections and evaluations that the page knows of, with what has come of them so far. */
import type { z } from "zod";
import { create } from "zustand";
import type { LiveRunEvent, presentLiveRunSchema } from "../../compute/runs/live-run.ts";

export interface LiveRun extends z.infer<typeof presentLiveRunSchema> {
  /** Whether it ended in this visit. */
  endedNow: boolean;
  /** Whether another tab plays it. */
  elsewhere: boolean;
}

interface LiveRuns {
  runs: Readonly<Record<string, LiveRun>>;
  /** Runs of earlier visits were read. */
  restored: boolean;
}

export const useLiveRuns = create<LiveRuns>(() => ({ runs: {}, restored: false }));

export const liveRunOf = (id: string): LiveRun | undefined => useLiveRuns.getState().runs[id];

export function putLiveRun(run: LiveRun): void {
  useLiveRuns.setState(({ runs }) => ({ runs: { ...runs, [run.id]: run } }));
}

export function patchLiveRun(id: string, change: Partial<LiveRun>): void {
  const run = liveRunOf(id);
  if (run !== undefined) putLiveRun({ ...run, ...change });
}

/** Takes a run off the list; what is kept of it stays. */
export function unlistLiveRun(id: string): void {
  useLiveRuns.setState(({ runs: { [id]: _, ...runs } }) => ({ runs }));
}

/** What an event of a run makes of it. */
export function takeLiveRunEvent(id: string, event: LiveRunEvent): void {
  const run = liveRunOf(id);
  if (run === undefined) return;
  switch (event.type) {
    case "planned":
      patchLiveRun(id, { ids: event.ids });
      break;
    case "begun": {
      const outcomes = new Map(run.outcomes);
      if (outcomes.delete(event.episode)) patchLiveRun(id, { outcomes });
      break;
    }
    case "ended":
      patchLiveRun(id, {
        outcomes: new Map(run.outcomes).set(event.episode, event.outcome),
        ...(event.unkept === null ? {} : { kept: false }),
      });
      break;
    case "played":
      patchLiveRun(id, { share: event.share });
  }
}

/** Milliseconds on a clock that never goes back and that the tabs of a browser share. */
export const pageTime = (): number => performance.timeOrigin + performance.now();
