import type { Episode } from "../record/schema.ts";
import type { MinimumPrefixPair } from "./minimum-prefix.ts";
import type { FailedVisit, PreparedState, PreparedTask } from "./prepare.ts";

/** A student execution looked up in a prepared task. */
export interface LocatedEpisode {
  prepared: PreparedTask;
  episode: Episode;
  /** By student position u: the state that z_u names, or null when no source visited it. */
  states: (PreparedState | null)[];
  /** By u: the latest position ≤ u with A_u^+ ≠ ∅ (Eq. (6)), or -1. */
  latestSuccess: number[];
  /** By u: the latest position ≤ u shared with a failed record, or -1. */
  latestFailure: number[];
  /** The best failed visit at a position that was asked for. */
  failedAt: Map<number, FailedVisit>;
  /** The pair of the minimum-prefix control, once it was asked for. */
  minimumPrefix: MinimumPrefixPair | null;
}
