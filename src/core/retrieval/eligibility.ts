/** The eligibility test b⁺(r, j) of Eq. (4) ("Candidate admission") and the cost d(r, j) of Eq. (5). */
import type { EnvironmentRules } from "../environment/environment.ts";
import type { Source } from "../record/schema.ts";
import { foldWhiteSpace } from "../white-space.ts";
import type { IneligibleReason } from "./types.ts";

/** The part of an environment's rules that selection and retention read. */
export type RetrievalRules = Pick<
  EnvironmentRules,
  | "trustedSourcesOnly"
  | "admitsTerminalEntry"
  | "checksContinuity"
  | "testsUnalignedEntry"
  | "unverifiedFallback"
>;

/**
 * Where a source's recording stops being continuous. A suffix from j is continuous when j is at or after both: no gap
 * mark lies inside it and each of its feedbacks is the next observation, white space folded.
 */
export interface Continuity {
  /** Least j whose suffix has no gap mark between two of its decisions. */
  gapFreeFrom: number;
  /** Least j whose suffix has no feedback that differs from the next observation. */
  agreeingFrom: number;
}

/** One pass from the end of a source's recording to the last break of each kind. */
export function continuity(source: Source): Continuity {
  const { decisions } = source;
  // A mark before decision g breaks the step from g-1 to g: it lies inside every suffix that starts before g.
  let gapFreeFrom = decisions.length - 1;
  while (gapFreeFrom > 0 && !decisions[gapFreeFrom]!.gap_before) gapFreeFrom--;
  let agreeingFrom = decisions.length - 1;
  while (agreeingFrom > 0) {
    const feedback = decisions[agreeingFrom - 1]!.feedback;
    const observation = decisions[agreeingFrom]!.observation;
    if (feedback !== observation && foldWhiteSpace(feedback) !== foldWhiteSpace(observation)) break;
    agreeingFrom--;
  }
  return { gapFreeFrom: Math.max(gapFreeFrom, 0), agreeingFrom: Math.max(agreeingFrom, 0) };
}

/** d(r, j): committed decisions from visit j to the recorded ending; noncommitted attempts are not counted. */
export function suffixCost(execution: { decisions: readonly unknown[] }, position: number): number {
  return execution.decisions.length - position;
}

/**
 * The tests of b⁺ that a visit fails, in the order of `IneligibleReason`; eligible when there are none. The tests on
 * the decision apply to the entry only, not to the rest of the suffix.
 */
export function ineligibleReasons(
  source: Source,
  position: number,
  breaks: Continuity,
  rules: RetrievalRules,
): IneligibleReason[] {
  const reasons: IneligibleReason[] = [];
  if (!source.outcome.complete) reasons.push("incomplete_record");
  if (!source.outcome.verified) reasons.push("unverified_record");
  if (!source.outcome.success) reasons.push("not_successful");
  if (rules.checksContinuity) {
    if (position < breaks.gapFreeFrom) reasons.push("gap_in_suffix");
    if (position < breaks.agreeingFrom) reasons.push("feedback_mismatch");
  }
  const entry = source.decisions[position];
  if (entry === undefined) {
    if (!rules.admitsTerminalEntry) reasons.push("terminal_entry");
    return reasons;
  }
  if (entry.status === "rejected") reasons.push("entry_rejected");
  if (entry.status === "malformed") reasons.push("entry_malformed");
  if (entry.status === "rolled_back") reasons.push("entry_rolled_back");
  if (isBlank(entry.action) && isBlank(entry.binding)) reasons.push("entry_without_action");
  return reasons;
}

function isBlank(text: string | null): boolean {
  if (text === null) return true;
  const first = text.charCodeAt(0);
  // A visible ASCII character to begin with, as nearly every action has, settles it.
  return !(first > 0x20 && first < 0x7f) && foldWhiteSpace(text) === "";
}
