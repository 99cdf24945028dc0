/** One state of the graph in words: what its tooltip, the line below the graph and screen readers say. */

import { countOf } from "../../../core/plural.ts";
import { shownName } from "../../base/text/shown-text.ts";
import type { TaskModel } from "../model.ts";

/** Visits and executions are counted apart, for the state and for what leads out of it. */
export function describeNode(task: TaskModel, at: number): string {
  const state = task.states[at]!;
  const name = state.letter === "" ? "A state of one execution" : `State ${state.letter}`;
  const parts = [
    `${name}: ${countOf(state.visits, "visit")} by ${countOf(state.executions, "execution")}`,
    `first at step ${state.step}`,
    state.cost === null ? "no verified success passes it" : `least remaining cost ${state.cost}`,
  ];
  if (state.mode !== "normal")
    parts.push(`mode ${shownName(state.mode, 40)}, ${countOf(state.options.length, "option")}`);
  const out = task.edges.filter((edge) => edge.from === at && edge.to !== at);
  if (out.length > 0) {
    const transitions = out.reduce((sum, edge) => sum + edge.transitions, 0);
    parts.push(`${countOf(transitions, "transition")} to ${countOf(out.length, "other state")}`);
  }
  const loop = task.edges.find((edge) => edge.from === at && edge.to === at);
  if (loop !== undefined) {
    parts.push(`${countOf(loop.transitions, "self-loop")} by ${countOf(loop.executions, "execution")}`);
  }
  return parts.join("; ");
}

/** The visits of recorded executions to a state, in the order of the matrix: I_x(z) of Eq. (3). */
export function visitsOf(task: TaskModel, state: number): { source: string; position: number }[] {
  return task.sources.flatMap(({ id, cells }) =>
    cells.flatMap((cell, position) => (cell.state === state ? [{ source: id, position }] : [])),
  );
}
