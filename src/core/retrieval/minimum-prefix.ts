/**
 * The minimum-prefix control (Section "Student hindsight and reference selection"): the records are not found through
 * the graph. One successful and one failed record are fixed for the whole episode, those that have the shortest action
 * prefix in common with the student.
 */
import { byCodeUnit } from "../graph/matching-key.ts";
import type { Episode, EpisodeDecision, Reference, Source, SourceDecision } from "../record/schema.ts";
import { isTrustedFailure, isTrustedSuccess } from "../record/standing.ts";
import { foldWhiteSpace } from "../white-space.ts";
import { suffixCost } from "./eligibility.ts";

/** The references of every decision of one episode. */
export interface MinimumPrefixPair {
  success: Reference | null;
  failure: Reference | null;
}

/**
 * L(τ, r): how many decisions at the start of the student's execution and of the source's record have the same action.
 * Committed decisions are compared one by one; two actions are the same when their texts and what they stood for (the
 * binding of a menu choice) are equal after white-space folding. A decision without an action ends the prefix.
 */
export function sharedActionPrefix(episode: Episode, source: Source): number {
  const longest = Math.min(episode.decisions.length, source.decisions.length);
  let length = 0;
  while (length < longest && sameAction(episode.decisions[length]!, source.decisions[length]!)) length++;
  return length;
}

function sameAction(a: EpisodeDecision, b: SourceDecision): boolean {
  if (a.action === null || b.action === null) return false;
  return folded(a.action) === folded(b.action) && folded(a.binding) === folded(b.binding);
}

function folded(text: string | null): string | null {
  return text === null ? null : foldWhiteSpace(text);
}

/**
 * Of the task's trusted successful records, and apart from it of its trusted failed records, the one with the least
 * L(τ, r); ties go to the smaller whole cost d(r, 0), then the smaller repetition, then the source id. The student's
 * whole execution decides, so all decisions of an episode have the same pair. Neither continuity nor an eligible entry
 * is asked for, and a task without a trusted record of an outcome has none of that outcome.
 *
 * No locator is looked up, so the relation is `unaligned`; `shared_prefix` of the reference is L(τ, r).
 */
export function minimumPrefixPair(sources: readonly Source[], episode: Episode): MinimumPrefixPair {
  const find = (kind: (source: Source) => boolean): Reference | null => {
    let best: Source | null = null;
    let least = 0;
    for (const source of sources.filter(kind)) {
      const length = sharedActionPrefix(episode, source);
      if (best === null || (length - least || byWholeCost(source, best)) < 0)
        [best, least] = [source, length];
    }
    if (best === null) return null;
    return {
      source: best.source,
      position: null,
      student_position: null,
      relation: "unaligned",
      shared_prefix: least,
    };
  };
  return { success: find(isTrustedSuccess), failure: find(isTrustedFailure) };
}

function byWholeCost(a: Source, b: Source): number {
  return suffixCost(a, 0) - suffixCost(b, 0) || a.repetition - b.repetition || byCodeUnit(a.source, b.source);
}
