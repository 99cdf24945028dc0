/**
 * What the outcome of a source record lets retrieval do with it. A trusted record is complete and replay-checked; only
 * trusted records are ranked or looked up as failed references, the others can at most be an unverified fallback.
 */
import type { Source } from "./schema.ts";

/** Complete and checked by replay. */
export function isTrusted(source: Source): boolean {
  return source.outcome.complete && source.outcome.verified;
}

/** What the original file claims: `reported_success`, or `success` where the claim is absent. */
export function reportsSuccess(source: Source): boolean {
  return source.outcome.reported_success ?? source.outcome.success;
}

/** A trusted record that succeeded: what a successful suffix can come from (Section 3.3). */
export function isTrustedSuccess(source: Source): boolean {
  return isTrusted(source) && source.outcome.success;
}

/**
 * A trusted record that failed: what FailedRef searches. A record whose claimed success was not confirmed by replay is
 * neither a success nor a failure.
 */
export function isTrustedFailure(source: Source): boolean {
  return isTrusted(source) && !source.outcome.success && !reportsSuccess(source);
}
