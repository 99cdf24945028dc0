import type { Episode } from "../record/schema.ts";

/**
 * The episode ended by itself in failure with a negative score: neither the decision limit nor a technical fault
 * stopped it, and its last decision is on record (appendix, "Planner and oracle executions").
 */
export function endedInTerminalFailure(episode: Episode): boolean {
  const { complete, success, ended, score } = episode.outcome;
  return complete && !success && ended === "environment" && score !== null && score < 0;
}

/** Decision t is the one whose execution ended the episode in such a failure. */
export function isTerminalFailure(episode: Episode, decision: number): boolean {
  return decision === episode.decisions.length - 1 && endedInTerminalFailure(episode);
}
