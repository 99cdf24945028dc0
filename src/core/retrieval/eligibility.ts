/** The eligibility test b⁺(r, j) of Eq. (4) ("Candidate admission") and the cost d(r, j) of Eq. (5). */
import type { EnvironmentRules } from "../environment/rules.ts";
import type { Source } from "../record/schema.ts";
import { isTrustedSuccess } from "../record/standing.ts";
import { foldWhiteSpace } from "../white-space.ts";
import type { IneligibleReason } from "./types.ts";

/** The part of an environment's rules that selection and retention read. */
export type RetrievalRules = Pick<
  EnvironmentRules,
  | "trustedSourcesOnly"
  | "planDecisions"
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

/** The tests of b⁺ in the order of `IneligibleReason`. Test i is bit i of a set of failed tests. */
const TESTS = [
  "incomplete_record",
  "unverified_record",
  "not_successful",
  "gap_in_suffix",
  "feedback_mismatch",
  "entry_rejected",
  "entry_malformed",
  "entry_rolled_back",
  "entry_without_action",
  "entry_ruled_out",
  "terminal_entry",
] as const satisfies readonly IneligibleReason[];

/** A set of failed tests; 0 where b⁺ = 1. */
export type FailedTests = number;

function bit(test: IneligibleReason): FailedTests {
  return 1 << TESTS.indexOf(test);
}

const INCOMPLETE = bit("incomplete_record");
const UNVERIFIED = bit("unverified_record");
const NOT_SUCCESSFUL = bit("not_successful");
const GAP = bit("gap_in_suffix");
const MISMATCH = bit("feedback_mismatch");
const TERMINAL = bit("terminal_entry");
const REJECTED = bit("entry_rejected");
const MALFORMED = bit("entry_malformed");
const ROLLED_BACK = bit("entry_rolled_back");
const NO_ACTION = bit("entry_without_action");
const RULED_OUT = bit("entry_ruled_out");

/** The tests of b⁺ that every visit of a source fails. */
export function failedByRecord({ outcome }: Source): FailedTests {
  return (
    (outcome.complete ? 0 : INCOMPLETE) |
    (outcome.verified ? 0 : UNVERIFIED) |
    (outcome.success ? 0 : NOT_SUCCESSFUL)
  );
}

/**
 * The other tests of b⁺, those of the visit at a position and of the suffix from there. The tests on the decision apply
 * to the entry only, not to the rest of the suffix.
 */
export function failedByVisit(
  source: Source,
  position: number,
  breaks: Continuity,
  rules: RetrievalRules,
): FailedTests {
  let failed = 0;
  if (rules.checksContinuity) {
    if (position < breaks.gapFreeFrom) failed |= GAP;
    if (position < breaks.agreeingFrom) failed |= MISMATCH;
  }
  const entry = source.decisions[position];
  if (entry === undefined) return rules.admitsTerminalEntry ? failed : failed | TERMINAL;
  if (entry.status === "rejected") failed |= REJECTED;
  else if (entry.status === "malformed") failed |= MALFORMED;
  else if (entry.status === "rolled_back") failed |= ROLLED_BACK;
  if (isBlank(entry.action) && isBlank(entry.binding)) failed |= NO_ACTION;
  if (entry.entry_allowed === false) failed |= RULED_OUT;
  return failed;
}

/** The failed tests by name, in the order of `IneligibleReason`. */
export function reasonsOf(failed: FailedTests): IneligibleReason[] {
  return TESTS.filter((_, test) => (failed & (1 << test)) !== 0);
}

/** How many visits of trusted successes can be entered, and which tests of b⁺ the others fail. */
export interface EntryCounts {
  /** Those with a locator. */
  visits: number;
  eligible: number;
  /** A visit that fails several tests is counted at each. */
  ineligible: Partial<Record<IneligibleReason, number>>;
}

export const noEntries = (): EntryCounts => ({ visits: 0, eligible: 0, ineligible: {} });

/** Adds the visits of one record to the counts, in place; none unless it is a trusted success. */
export function addEntries(counts: EntryCounts, source: Source, rules: RetrievalRules): void {
  if (!isTrustedSuccess(source)) return;
  const breaks = continuity(source);
  for (const [position, { state }] of source.decisions.entries()) {
    if (state === null) continue;
    const failed = failedByVisit(source, position, breaks, rules);
    counts.visits++;
    if (failed === 0) counts.eligible++;
    for (const reason of reasonsOf(failed)) counts.ineligible[reason] = (counts.ineligible[reason] ?? 0) + 1;
  }
}

function isBlank(text: string | null): boolean {
  if (text === null) return true;
  const first = text.charCodeAt(0);
  // A visible ASCII character to begin with, as nearly every action has, settles it.
  return !(first > 0x20 && first < 0x7f) && foldWhiteSpace(text) === "";
}
