import { isRefutedSuccess, isTrusted, isTrustedFailure, isTrustedSuccess } from "../record/standing.ts";
import type { TaskGraph } from "./task-graph.ts";

/** Counts of one task's graph. Every count is a plain total over the task's records. */
export interface GraphStatistics {
  environment: string;
  task: string;
  sources: number;
  /** Complete, replay-checked records that succeeded. */
  successes: number;
  /** Complete, replay-checked records that failed. */
  failures: number;
  /** Complete, replay-checked records whose claimed success replay did not confirm. */
  refuted: number;
  /** Records that are incomplete or not replay-checked. */
  untrusted: number;
  /** Committed decisions of all sources, which is also |F_x|, the temporal edges of H_x. */
  decisions: number;
  /** Noncommitted collection retries. */
  attempts: number;
  /** |W_x|: T+1 a source. */
  visits: number;
  /** |V_x as visits|: those with a reliable locator. */
  locatedVisits: number;
  /** |V_x|: distinct locators. */
  states: number;
  /** States that two or more distinct sources visited. */
  sharedStates: number;
  /** Largest number of distinct sources at one state. */
  mostSourcesAtState: number;
  /** |E_x|, self-loops included. */
  edges: number;
  /** Edges that two or more distinct sources traversed. */
  sharedEdges: number;
  /** Edges from a state to itself. */
  selfLoops: number;
  /** Temporal edges projected to an edge: both ends have a reliable locator. */
  traversals: number;
  /** Recorded continuity gaps. */
  gaps: number;
}

/** Counts over one task's graph. */
export function graphStatistics(graph: TaskGraph): GraphStatistics {
  const { sources, visits, nodes, edges } = graph;
  const decisions = sources.flatMap((source) => source.decisions);
  return {
    environment: graph.environment,
    task: graph.task,
    sources: sources.length,
    successes: sources.filter(isTrustedSuccess).length,
    failures: sources.filter(isTrustedFailure).length,
    refuted: sources.filter(isRefutedSuccess).length,
    untrusted: sources.filter((source) => !isTrusted(source)).length,
    decisions: decisions.length,
    attempts: decisions.reduce((total, decision) => total + decision.attempts.length, 0),
    visits: visits.length,
    locatedVisits: visits.filter((visit) => visit.node !== null).length,
    states: nodes.length,
    sharedStates: nodes.filter((node) => node.sources.length > 1).length,
    mostSourcesAtState: nodes.reduce((most, node) => Math.max(most, node.sources.length), 0),
    edges: edges.length,
    sharedEdges: edges.filter((edge) => edge.sources.length > 1).length,
    selfLoops: edges.filter((edge) => edge.from === edge.to).length,
    traversals: edges.reduce((total, edge) => total + edge.transitions.length, 0),
    gaps: decisions.filter((decision) => decision.gap_before).length,
  };
}
