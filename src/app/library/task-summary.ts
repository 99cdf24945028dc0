/** One line of the library table, and the totals of a library. */
import { nodeAt, type TaskGraph } from "../../core/graph/index.ts";
import type { Episode } from "../../core/record/schema.ts";
import type { TaskRef, TaskSummary } from "../model.ts";

/** Counts over one task's graph and the student episodes of the same task. */
export function taskSummary(graph: TaskGraph, ref: TaskRef, episodes: readonly Episode[]): TaskSummary {
  const successes = graph.sources.filter((source) => source.outcome.success).length;
  const decisions = episodes.flatMap((episode) => episode.decisions);
  return {
    environment: ref.environment,
    task: ref.task,
    description: graph.sources[0]?.task_description ?? episodes[0]?.task_description ?? "",
    sources: graph.sources.length,
    successes,
    failures: graph.sources.length - successes,
    states: graph.nodes.length,
    sharedStates: graph.nodes.filter((node) => node.sources.length > 1).length,
    episodes: episodes.length,
    episodesWon: episodes.filter((episode) => episode.outcome.success).length,
    decisions: decisions.length,
    matchedDecisions: decisions.filter((decision) => nodeAt(graph, decision.state) !== null).length,
  };
}
