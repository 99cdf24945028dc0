/** What an edge of G_x is on the drawing, and what it is called. */

import { countOf } from "../../../../core/plural.ts";
import type { Axis } from "../../../url/place.ts";
import type { EdgeModel, GraphLayout, StateModel, TaskModel } from "../../model.ts";

/** `loop` stays at its state; `forward` goes to a column further right, `level` to the same one, `back` to the left. */
export type EdgeKind = "loop" | "forward" | "level" | "back";

export function edgeKind({ from, to }: { from: number; to: number }, layout: GraphLayout): EdgeKind {
  if (from === to) return "loop";
  const along = layout.column[to]! - layout.column[from]!;
  return along > 0 ? "forward" : along < 0 ? "back" : "level";
}

/** Where an edge of the kind leads, by what the columns mean. */
const LEADS: Record<Axis, Record<EdgeKind, string>> = {
  step: {
    loop: "self-loop: the state stays the same",
    forward: "to a state first visited later",
    level: "to a state first visited at the same step",
    back: "back edge: to a state first visited earlier",
  },
  cost: {
    loop: "self-loop: the state stays the same",
    forward: "towards success, or into reach of one",
    level: "to a state of the same remaining cost",
    back: "back edge: away from success",
  },
};

/** A state's letter, or what stands for it where only one execution visited it. */
export const stateName = ({ letter }: StateModel): string => letter || "·";

/** "A → C, back edge: …, on a cycle: 3 transitions by 2 executions". */
export function describeEdge(edge: EdgeModel, task: TaskModel, axis: Axis): string {
  const kind = edgeKind(edge, task.layouts[axis]);
  const ends = `${stateName(task.states[edge.from]!)} → ${stateName(task.states[edge.to]!)}`;
  const cycle = edge.cycle && kind !== "loop" ? ", on a cycle" : "";
  const counts = `${countOf(edge.transitions, "transition")} by ${countOf(edge.executions, "execution")}`;
  return `${ends}, ${LEADS[axis][kind]}${cycle}: ${counts}`;
}

/** How many edges there are of what is not plain: "3 self-loops, 2 back edges, 5 edges on cycles". */
export function edgeTotals(task: TaskModel, axis: Axis): string {
  const layout = task.layouts[axis];
  const of = (kind: EdgeKind): number => task.edges.filter((edge) => edgeKind(edge, layout) === kind).length;
  const loops = of("loop");
  const cycles = task.edges.filter((edge) => edge.cycle).length - loops;
  const parts = [countOf(task.edges.length, "edge")];
  if (loops > 0) parts.push(countOf(loops, "self-loop"));
  if (of("back") > 0) parts.push(countOf(of("back"), "back edge"));
  if (cycles > 0) parts.push(`${cycles.toLocaleString("en")} on cycles`);
  return parts.join(", ");
}
