/** The cells of an episode's timeline: what retrieval retained at each decision, and how much that moved its tokens. */
import type { Reference } from "../../../core/record/schema.ts";
import { evidenceDeltas } from "../../compute/side.ts";
import type { TokenScores } from "../../compute/store.ts";
import type { Execution, RetainedRelations } from "../../data/model.ts";
import { describeAction } from "./describe-cell.ts";
import { outcomeOf, outcomeWords, type RetainedOutcome } from "./inspector/retained.ts";

/** How the best retained record is found, the closest first; `none` where no record is retained. */
export const MATCH_KINDS = ["current", "historical", "fallback", "none"] as const;
export type MatchKind = (typeof MATCH_KINDS)[number];

export const KIND_TITLES: Record<MatchKind, string> = {
  current: "at the current state",
  historical: "at an earlier state",
  fallback: "fallback, no shared state",
  none: "no record",
};

const KIND_OF: Record<Reference["relation"], MatchKind> = {
  current: "current",
  historical: "historical",
  unaligned: "fallback",
  unverified: "fallback",
};

export interface TimelineCell {
  kind: MatchKind;
  /** Outcome of the record behind `kind`: that of a successful one wherever one is retained. */
  outcome: RetainedOutcome | null;
  /** Mean |Δ| over the response tokens, in nats; null where it is not scored. */
  change: number | null;
  /** All of it in words. */
  label: string;
}

/** Mean |Δ| of a scored response, in nats. */
export function meanChange(scores: Pick<TokenScores, "sides">): number {
  const deltas = evidenceDeltas(scores);
  return deltas.reduce((sum, delta) => sum + Math.abs(delta), 0) / Math.max(1, deltas.length);
}

/** `scoresAt`: of a decision, where it is scored. */
export function timelineCells(
  episode: Execution,
  retained: readonly RetainedRelations[],
  scoresAt: (decision: number) => Pick<TokenScores, "sides"> | undefined,
): TimelineCell[] {
  return retained.map(({ success, failure, unknownOutcome }, decision) => {
    const relation = success ?? failure;
    const kind = relation === null ? "none" : KIND_OF[relation];
    const outcome =
      relation === null ? null : outcomeOf(success === null ? "failure" : "success", { unknownOutcome });
    const scores = scoresAt(decision);
    const change = scores === undefined ? null : meanChange(scores);
    const record =
      outcome === null
        ? KIND_TITLES.none
        : `${outcomeWords(outcome, "record")}${kind === "fallback" ? "," : ""} ${KIND_TITLES[kind]}`;
    const cell = episode.cells[decision];
    const action = cell === undefined ? "" : `${describeAction(cell)}; `;
    const moved = change === null ? "not scored" : `mean |Δ| ${change.toFixed(3)} nats`;
    return { kind, outcome, change, label: `Decision ${decision}: ${action}${record}; ${moved}` };
  });
}
