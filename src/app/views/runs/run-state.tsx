/** A run's state in a word with its mark, how far it is, and how long is left. */

import { ENDED, type Run } from "../../runs/run.ts";
import { timeLeft } from "../../runs/run-time.ts";
import { formatRange } from "../../session/eta.ts";

const MARKS: Record<Run["state"], string> = {
  queued: "◌",
  starting: "◔",
  running: "▶",
  cancelling: "◼",
  cancelled: "▢",
  failed: "✕",
  lost: "?",
  done: "✓",
};

export function RunStateLine({ run }: { run: Run }) {
  const { state, stream } = run;
  return (
    <span className={`run-state ${state}`}>
      <span aria-hidden="true">{MARKS[state]}</span> {state === "cancelling" ? "cancel requested" : state}
      {stream === "lost" && !ENDED.includes(state) && " · not connected, trying again"}
      {stream === "other-tab" && " · in another tab"}
    </span>
  );
}

export function stepsText({ figures }: Run): string {
  return figures.total === 0 ? "–" : `${figures.done} of ${figures.total}`;
}

export function leftText({ figures, state }: Run): string {
  if (ENDED.includes(state)) return "";
  const left = timeLeft(figures);
  return left === null ? "known after the first step" : `${formatRange(left)} left`;
}
