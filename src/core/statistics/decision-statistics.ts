/**
 * What retrieval found over the decisions of an episode set (Sections "Student hindsight and reference selection" and
 * "Outcome composition").
 */
import type { EvidenceInput } from "../evidence/types.ts";
import type { Relation, RetrievalRecord } from "../record/schema.ts";
import { hasUnknownOutcome } from "../record/standing.ts";

/** Decisions by the relation of a retained reference. */
export type RelationCounts = Record<Relation | "none", number>;

/** Counts of decisions. Each group adds up to `decisions`. */
export interface DecisionStatistics {
  episodes: number;
  /** Episodes that succeeded. */
  wonEpisodes: number;
  decisions: number;
  /** The locator matches at least one indexed visit. */
  matched: number;
  cases: Record<RetrievalRecord["case"], number>;
  /** Who won the ranking of C_t^+; none where there is no candidate. */
  winners: { source: number; student: number; none: number };
  /** By the relation of the retained successful reference. */
  success: RelationCounts;
  /** By the relation of the retained failed reference. */
  failure: RelationCounts;
  /**
   * Outcomes of the retained external references, labelled fallbacks included. `unknown`: a record of unknown outcome
   * stands in the place of a failed one, with or without a successful one beside it.
   */
  outcomes: { successOnly: number; both: number; failureOnly: number; unknown: number; none: number };
}

const noRelations = (): RelationCounts => ({
  current: 0,
  historical: 0,
  unaligned: 0,
  unverified: 0,
  none: 0,
});

/** The counts of no decision. */
export function emptyDecisionStatistics(): DecisionStatistics {
  return {
    episodes: 0,
    wonEpisodes: 0,
    decisions: 0,
    matched: 0,
    cases: { matched_success: 0, matched_no_success: 0, unmatched_success: 0, unmatched_failure: 0 },
    winners: { source: 0, student: 0, none: 0 },
    success: noRelations(),
    failure: noRelations(),
    outcomes: { successOnly: 0, both: 0, failureOnly: 0, unknown: 0, none: 0 },
  };
}

/** Adds one decision, its retrieval record with the records that it retains, to the counts, in place. */
export function addDecision(
  counts: DecisionStatistics,
  { retrieval, success, failure }: Pick<EvidenceInput, "retrieval" | "success" | "failure">,
): void {
  counts.decisions++;
  if (retrieval.matched_visits > 0) counts.matched++;
  counts.cases[retrieval.case]++;
  counts.winners[retrieval.winner?.kind ?? "none"]++;
  counts.success[retrieval.success?.relation ?? "none"]++;
  counts.failure[retrieval.failure?.relation ?? "none"]++;
  if (failure !== null && hasUnknownOutcome(failure)) counts.outcomes.unknown++;
  else if (success !== null) counts.outcomes[failure === null ? "successOnly" : "both"]++;
  else counts.outcomes[failure === null ? "none" : "failureOnly"]++;
}
