/**
 * Which records an environment's library D_x holds (appendix, "Candidate admission" and "Planner and oracle
 * executions"). Asked of a record, or of as much of it as an index keeps.
 */
import type { Source } from "../record/schema.ts";
import type { RetrievalRules } from "./eligibility.ts";
import { isAugmentation } from "./selection.ts";

/** What admission looks at. */
export interface Admitted {
  /** `origin.kind`. */
  origin: string;
  /** Committed decisions. */
  decisions: number;
  complete: boolean;
  verified: boolean;
  success: boolean;
}

type AdmissionRules = Pick<RetrievalRules, "trustedSourcesOnly" | "planDecisions">;

/** Why the library does not hold a record, to be read after "because"; null where it does. */
export function exclusion(record: Admitted, rules: AdmissionRules): string | null {
  const trusted = record.complete && record.verified;
  if (rules.trustedSourcesOnly && !trusted)
    return "the library of its environment holds complete, replay-checked records only";
  const { planDecisions: most } = rules;
  if (most === null || !isAugmentation({ origin: { kind: record.origin } })) return null;
  if (trusted && record.success && record.decisions >= 1 && record.decisions <= most) return null;
  return `the library of its environment holds successful plans of 1 to ${most} decisions only`;
}

/** D_x: the sources that the environment's library holds. */
export function admittedSources(sources: readonly Source[], rules: AdmissionRules): readonly Source[] {
  if (!rules.trustedSourcesOnly && rules.planDecisions === null) return sources;
  return sources.filter((source) => sourceExclusion(source, rules) === null);
}

/** `exclusion` of a whole record. */
export function sourceExclusion(
  { origin, decisions, outcome }: Source,
  rules: AdmissionRules,
): string | null {
  const { complete, verified, success } = outcome;
  return exclusion({ origin: origin.kind, decisions: decisions.length, complete, verified, success }, rules);
}
