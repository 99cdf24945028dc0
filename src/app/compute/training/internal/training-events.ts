/** The events of a run of the page: its steps and figures go to the runs, what it is doing now to the Training view. */
import { pageRuns } from "../../runs/internal/page-runs.ts";
import { patchRun, takeEvent } from "../../runs/runs-store.ts";
import { getUi, setUi } from "../../store.ts";
import type { RunEvent } from "../../worker/training-run.ts";

/** Changes what the Training view shows of its run. */
export function patchTraining(change: Partial<ReturnType<typeof getUi>["training"]>): void {
  setUi((ui) => ({ training: { ...ui.training, ...change } }));
}

/** Says what the run is doing. */
export function showProgress(label: string, done: number, total: number, unit = "tokens"): void {
  patchTraining({ work: { label, done, total, unit } });
}

/** One event of the loop, as the view shows it. */
export function follow(event: RunEvent, id: string): void {
  const { training } = getUi();
  if (event.type === "unkept") {
    const text = `This browser keeps no checkpoint of the run (${event.reason}): it cannot go on after the page is closed.`;
    patchRun(id, { message: text });
    return;
  }
  if (event.type === "best-lost") {
    const text = "This browser had no room for the best evaluated checkpoint: it made way for the newest.";
    patchRun(id, { message: text });
    return;
  }
  if (event.type === "watch") {
    const { watch } = training;
    if (watch === null) return;
    patchTraining({
      watch: { ...watch, history: [...watch.history, { step: event.step, logprobs: event.logprobs }] },
    });
    return;
  }
  if (event.type === "work") {
    const { what, done, total, unit } = event.work;
    takeEvent(id, { type: "work", ...event.work }, "");
    showProgress(
      {
        teacher: "Teacher scores the batch",
        student: "Student: forward, backward, update",
        rollout: "Student plays",
        evaluation: "Student is measured",
        checkpoint: "Writing a checkpoint",
      }[what],
      done,
      total,
      unit,
    );
    return;
  }
  const { event: loop } = event;
  takeEvent(id, loop, new Date().toISOString());
  pageRuns.note(id);
  if (loop.type === "start") patchRun(id, { state: "running" });
  else if (loop.type === "fault") {
    // Steps after the last kept state are taken again.
    const { watch } = training;
    patchTraining({
      watch: watch && { ...watch, history: watch.history.filter(({ step }) => step <= loop.step) },
    });
    showProgress(
      `Device failed; going on after step ${loop.step} (${loop.attempt} of ${loop.attempts})`,
      0,
      0,
    );
  } else if (loop.type === "step") showProgress("Reading the episodes", 0, 0);
}
