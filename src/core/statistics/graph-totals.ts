/** Graph counts of a whole library: the totals of its tasks' graphs. */
import { type GraphStatistics, graphStatistics } from "../graph/statistics.ts";
import { type TaskGraph, taskGraph } from "../graph/task-graph.ts";

/** As `GraphStatistics`, summed over the tasks; `mostSourcesAtState` is the largest of any task. */
export type GraphTotals = Omit<GraphStatistics, "environment" | "task">;

/** The totals of no task. */
export function emptyGraphTotals(): GraphTotals {
  const { environment: _, task: __, ...zeros } = graphStatistics(taskGraph([]));
  return zeros;
}

/** Adds one task's graph to the totals, in place. */
export function addGraph(totals: GraphTotals, graph: TaskGraph): void {
  const counts = graphStatistics(graph);
  for (const key of Object.keys(totals) as (keyof GraphTotals)[]) {
    totals[key] =
      key === "mostSourcesAtState" ? Math.max(totals[key], counts[key]) : totals[key] + counts[key];
  }
}
