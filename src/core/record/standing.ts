/**
 * What the outcome of a source record lets retrieval do with it. A trusted record is complete and replay-checked; only
 * trusted records are ranked or looked up as failed references, the others can at most be an unverified fallback.
 */
import type { Episode, Outcome, Source } from "./schema.ts";

/** The part of a record that its standing is a function of. */
type Standing = Pick<Source, "outcome">;

/** Complete and checked by replay. */
export function isTrusted(source: Standing): boolean {
  return source.outcome.complete && source.outcome.verified;
}

/** What the original file claims: `reported_success`, or `success` where the claim is absent. */
export function reportsSuccess(source: { outcome: Pick<Outcome, "success" | "reported_success"> }): boolean {
  return source.outcome.reported_success ?? source.outcome.success;
}

/** A trusted record that succeeded: what a successful suffix can come from (Section 3.3). */
export function isTrustedSuccess(source: Standing): boolean {
  return isTrusted(source) && source.outcome.success;
}

/**
 * A trusted record that failed: what FailedRef searches. A record whose claimed success was not confirmed by replay is
 * neither a success nor a failure.
 */
export function isTrustedFailure(source: Standing): boolean {
  return isTrusted(source) && !source.outcome.success && !reportsSuccess(source);
}

/** A trusted record that claims a success which replay did not confirm: neither a success nor a failure. */
export function isRefutedSuccess(source: Standing): boolean {
  return isTrusted(source) && !source.outcome.success && reportsSuccess(source);
}

/** Why a record cannot be taken at its word, to be read after "because"; null where it can. */
export function reservation(source: Standing): string | null {
  const { complete, verified } = source.outcome;
  if (isRefutedSuccess(source)) return "replay did not confirm its claimed success";
  if (isTrusted(source)) return null;
  return [complete ? [] : "it is incomplete", verified ? [] : "it is not verified by replay"]
    .flat()
    .join(" and ");
}

/**
 * The execution broke off for a technical reason: a fault, or an action that a recording does not hold. Importers also
 * write `technical` where a format does not say how the run ended, and mark it: those records did not.
 */
export function brokeOff(record: {
  outcome: Outcome;
  outcome_unknown?: unknown;
  ended_unknown?: unknown;
}): boolean {
  const unknown = record.ended_unknown === true || hasUnknownOutcome(record);
  return record.outcome.ended === "technical" && !unknown;
}

/**
 * Whether an execution succeeded, as the evidence says it; null where nobody recorded it, and for an episode that broke off
 * before it was judged. A source that broke off can be a trusted failure.
 */
export function knownSuccess(record: Episode | Source): boolean | null {
  if (record.outcome.success) return true;
  const wasNeverJudged = record.format === "gcopd.episode.v1" && brokeOff(record);
  return hasUnknownOutcome(record) || wasNeverJudged ? null : false;
}

/** True where nobody recorded how the run ended: `success` false then stands for "unknown". */
export function hasUnknownOutcome(record: { outcome: Outcome; outcome_unknown?: unknown }): boolean {
  return record.outcome.outcome_unknown === true || record.outcome_unknown === true;
}
