/** The part of G_x around one decision: what the student and the references visited, and one step around that. */

import type { Execution, GraphLayout, TaskModel } from "../../model.ts";
import { layoutColumns } from "./graph-layout.ts";

/** With more states than this the relevant part is drawn unless somebody asks for all of them. */
export const RELEVANT_FROM = 60;

/** States of the student and of the named sources, the retained references and the highlighted ones, with their neighbours. */
export function relevantStates(
  task: TaskModel,
  episode: Execution | null,
  sources: ReadonlySet<string | undefined>,
): Set<number> {
  const passed = new Set<number>();
  for (const { cells } of [
    ...(episode === null ? [] : [episode]),
    ...task.sources.filter(({ id }) => sources.has(id)),
  ])
    for (const { state } of cells) if (state !== null) passed.add(state);
  const found = new Set(passed);
  for (const { from, to } of task.edges) {
    if (passed.has(from)) found.add(to);
    if (passed.has(to)) found.add(from);
  }
  return found;
}

/**
 * A task with the edges and the layout of some of its states alone. The states keep their numbers; `row` and `column` of
 * the others mean nothing.
 */
export function partOfTask(task: TaskModel, axis: "step" | "cost", states: ReadonlySet<number>): TaskModel {
  const edges = task.edges.filter(({ from, to }) => states.has(from) && states.has(to));
  return {
    ...task,
    edges,
    layouts: { ...task.layouts, [axis]: partOfLayout(task.layouts[axis], edges, states) },
  };
}

/** Empty columns at the beginning are left out, and by step those at the end; by cost the last one is cost 0 always. */
function partOfLayout(
  layout: GraphLayout,
  edges: TaskModel["edges"],
  states: ReadonlySet<number>,
): GraphLayout {
  const members = [...states].sort((a, b) => a - b);
  const place = new Map(members.map((state, i) => [state, i]));
  const columns = members.map((state) => layout.column[state]!);
  const first = layout.lead === 0 ? 0 : Math.min(layout.lead, ...columns);
  const part = layoutColumns(
    columns.map((column) => column - first),
    edges.map(({ from, to }) => ({ from: place.get(from)!, to: place.get(to)! })),
  );
  const all = { column: [...layout.column], row: [...layout.row] };
  members.forEach((state, i) => {
    all.column[state] = part.column[i]!;
    all.row[state] = part.row[i]!;
  });
  return { ...part, ...all, lead: layout.lead - first };
}
