/** A run's state in a word with its mark, how far it is, and how long is left. */

import { ENDED } from "../../../protocol/job-state.ts";
import { formatRange } from "../../base/eta.ts";
import type { Run } from "../runs/run.ts";
import { timeLeft } from "../runs/run-time.ts";
import { stateWord } from "../runs/state-word.ts";
import type { Launched } from "../runs/worker-answers.ts";

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
  const { state, stream, launched } = run;
  return (
    <span className={`run-state ${state}`}>
      <span aria-hidden="true">{MARKS[state]}</span> {stateWord(run)}
      {stream === "lost" && !ENDED.includes(state) && " · not connected, trying again"}
      {launched?.unreached != null && !ENDED.includes(state) && notReached(launched)}
      {stream === "other-tab" && " · in another tab"}
    </span>
  );
}

/** Its state is what was heard then. */
const notReached = ({ as_of: asOf }: Launched): string =>
  asOf === null ? " · not reached yet" : ` · not reached since ${asOf.slice(11, 19)} UTC`;

export function stepsText({ figures }: Run): string {
  return figures.total === 0 ? "–" : `${figures.done} of ${figures.total}`;
}

export function leftText({ figures, state }: Run): string {
  if (ENDED.includes(state)) return "";
  const left = timeLeft(figures);
  return left === null ? "time left is known after the first step" : `${formatRange(left)} left`;
}
