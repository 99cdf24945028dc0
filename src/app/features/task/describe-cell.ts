/** One visit in words: what the status line and screen readers say. */

import { countOf } from "../../../core/plural.ts";
import { shownName } from "../../base/text/shown-text.ts";
import type { Cell, Execution, TaskModel } from "../../data/model.ts";

/** "state C: 12 visits by 9 executions", or why there is none. */
export function describeState(task: TaskModel, cell: Cell): string {
  if (!cell.located) return "unreliable capture (⊥), matches nothing";
  if (cell.state === null) return "a state that no recorded execution visited";
  const state = task.states[cell.state]!;
  const name = state.letter === "" ? "a state of its own" : `state ${state.letter}`;
  const menu =
    state.mode === "normal" ? "" : `, mode ${shownName(state.mode, 40)} with ${state.options.length} options`;
  return `${name}: ${countOf(state.visits, "visit")} by ${countOf(state.executions, "execution")}${menu}`;
}

/** What happens at the visit. */
export function describeAction(cell: Cell): string {
  if (cell.status === "terminal") return "the end";
  const action =
    cell.action === null ? "no action" : cell.action === "" ? "a blank answer" : shownName(cell.action);
  const status = cell.status === "executed" ? "" : ` (${cell.status.replace("_", " ")})`;
  return `${action}${status}${cell.gapBefore ? ", recording gap before" : ""}`;
}

export function describeVisit(task: TaskModel, execution: Execution, position: number): string {
  const cell = execution.cells[position]!;
  const who = execution.kind === "student" ? "student" : shownName(execution.id, 80);
  return `${who}, visit ${position}: ${describeState(task, cell)} — ${describeAction(cell)}`;
}
