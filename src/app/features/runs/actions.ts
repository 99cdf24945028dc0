/** Actions on the run that is looked at. */

import { RESUMABLE } from "../../../protocol/job-state.ts";
import type { Action } from "../../compute/action.ts";
import { resumeRun, stopRun, useNaming } from "../../compute/runs/run-actions.ts";
import { getRuns } from "../../compute/runs/runs-store.ts";
import { getUi } from "../../compute/store.ts";

/** The run that is looked at, or the one started last. */
function shownRun() {
  const { runs, latest } = getRuns();
  const id = getUi().place.view === "runs" ? (getUi().place.run ?? latest) : latest;
  return id === null ? null : (runs[id] ?? null);
}

export const RUNS: readonly Action[] = [
  {
    id: "rename-run",
    title: "Rename the shown run",
    group: "Train",
    words: "name title call",
    blocked: () => (shownRun() === null ? "there is no run" : null),
    run: () => useNaming.setState({ id: shownRun()!.id }),
  },
  {
    id: "stop-run",
    title: "Stop the shown run after its step",
    group: "Train",
    words: "cancel end job worker",
    blocked: () => {
      const run = shownRun();
      if (run === null) return "there is no run";
      return run.state === "running" || run.state === "queued" ? null : "the run is not going on";
    },
    run: () => void stopRun(shownRun()!.id),
  },
  {
    id: "resume-run",
    title: "Resume the shown run",
    group: "Train",
    words: "continue go on job worker checkpoint",
    blocked: () => {
      const run = shownRun();
      if (run === null) return "there is no run";
      if (run.stream === "other-tab") return "another tab has the run";
      return RESUMABLE.includes(run.state)
        ? null
        : "only a run that was stopped or cancelled, that failed or was lost can go on";
    },
    run: () => void resumeRun(shownRun()!.id),
  },
];
