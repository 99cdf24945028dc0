/** Why retrieval decided as it did: the data behind each step, and one sentence for a person. */

import { byCodeUnit } from "../graph/matching-key.ts";
import { countOf } from "../plural.ts";
import type { Reference, RetrievalRecord } from "../record/schema.ts";
import {
  hasUnknownOutcome,
  isTrusted,
  isTrustedSuccess,
  reportsSuccess,
  reservation,
} from "../record/standing.ts";
import { sourceExclusion } from "./admission.ts";
import { type RetrievalRules, suffixCost } from "./eligibility.ts";
import type { LocatedEpisode } from "./located-episode.ts";
import type { FailedVisit, PreparedTask, RankedVisit } from "./prepare.ts";
import type { RetrieveOptions } from "./selection.ts";
import type { Explanation, IneligibleReason, MatchedVisit } from "./types.ts";

/** What each reason means, to be read after "because". */
export const REASON_TEXT: Record<IneligibleReason, string> = {
  incomplete_record: "the record is incomplete",
  unverified_record: "the record is not verified by replay",
  not_successful: "its outcome is not a success",
  gap_in_suffix: "the recording has a gap between the visit and the end",
  feedback_mismatch: "a feedback after the visit differs from the next observation",
  entry_rejected: "its next decision was rejected",
  entry_malformed: "its next decision was malformed",
  entry_rolled_back: "its next decision was rolled back",
  entry_without_action: "its next decision has no action",
  entry_ruled_out: "its recorder rules the next decision out as an entry",
  terminal_entry: "it is the source’s last visit",
};

/** Orders the failed visits at student position u by (|j-u|, d(r,0), repetition, j), then source id; best first. */
export function byCloseness(u: number): (a: FailedVisit, b: FailedVisit) => number {
  return (a, b) =>
    Math.abs(a.position - u) - Math.abs(b.position - u) ||
    a.wholeCost - b.wholeCost ||
    a.repetition - b.repetition ||
    a.position - b.position ||
    byCodeUnit(a.source, b.source);
}

/** `found` is what the rules, or a choice by hand, retain before the control takes anything away. */
export function explain(
  located: LocatedEpisode,
  t: number,
  record: RetrievalRecord,
  found: { success: Reference | null; failure: Reference | null },
  options: RetrieveOptions,
): Explanation {
  const { episode } = located;
  const state = located.states[t]!;
  const candidates = state?.candidates ?? [];
  const ranked = candidates.length > 0 && episode.outcome.success;
  const studentCost = ranked ? suffixCost(episode, t) : null;
  const ahead =
    studentCost === null ? candidates.length : candidates.filter((c) => c.cost <= studentCost).length;
  const matched = (state?.visits() ?? []).map(
    (visit): MatchedVisit => ({
      source: visit.source,
      repetition: visit.repetition,
      position: visit.position,
      cost: visit.cost,
      terminal: visit.terminal,
      eligible: visit.rank !== null,
      reasons: [...visit.reasons],
      rank: visit.rank !== null && visit.rank > ahead ? visit.rank + 1 : visit.rank,
    }),
  );
  const anchor = candidates.length === 0 ? located.latestSuccess[t]! : -1;
  const shared = candidates.length === 0 ? located.latestFailure[t]! : -1;
  const tie = tieBreak(candidates, studentCost);
  const facts: Facts = {
    unlocated: episode.decisions[t]!.state === null,
    studentCost,
    tie,
    anchor: anchor < 0 ? [] : located.states[anchor]!.candidates,
    failed: shared < 0 ? [] : located.states[shared]!.failures,
    prepared: located.prepared,
  };
  const searches = record.winner === null && record.case !== "unmatched_success";
  const searched = {
    success: searches && options.pin === undefined ? successText(found.success, facts) : null,
    failure: searches && options.pinFailure === undefined ? failureText(found.failure, facts) : null,
  };
  return {
    locator: episode.decisions[t]!.state,
    matched,
    studentCost,
    studentRank: studentCost === null ? null : ahead + 1,
    tie,
    anchor:
      anchor < 0
        ? null
        : {
            studentPosition: anchor,
            candidates: located.states[anchor]!.candidates.map(({ source, position, cost }) => ({
              source,
              position,
              cost,
            })),
          },
    failed:
      candidates.length > 0
        ? null
        : {
            studentPosition: shared < 0 ? null : shared,
            candidates: [...(located.states[shared]?.failures ?? [])]
              .sort(byCloseness(shared))
              .map((visit) => ({
                source: visit.source,
                position: visit.position,
                distance: Math.abs(visit.position - shared),
                wholeCost: visit.wholeCost,
                repetition: visit.repetition,
              })),
          },
    found: searched,
    unknownOutcome: isOfUnknownOutcome(record.failure, located.prepared),
    sentence: sentence(record, matched, found, searched, options, facts),
  };
}

/** What the sentence counts, beside what the record says. */
interface Facts {
  unlocated: boolean;
  studentCost: number | null;
  tie: Explanation["tie"];
  /** A⁺ at the historical anchor, best first. */
  anchor: readonly RankedVisit[];
  /** The failed visits at the shared position. */
  failed: readonly FailedVisit[];
  prepared: PreparedTask;
}

/** What decided between the first and the second of the ranking when their costs are equal. */
function tieBreak(candidates: readonly RankedVisit[], studentCost: number | null): Explanation["tie"] {
  const [first, second] = candidates;
  if (first === undefined || (studentCost !== null && studentCost < first.cost)) return null;
  if (second !== undefined && second.cost === first.cost) {
    if (second.repetition !== first.repetition) return "repetition";
    return second.position !== first.position ? "position" : "source";
  }
  return studentCost === first.cost ? "external over student" : null;
}

/** What broke a tie, to be read after "broken by". */
export const TIE_WORD: Record<NonNullable<Explanation["tie"]>, string> = {
  "external over student": "external over student",
  repetition: "repetition",
  position: "visit",
  source: "source",
};

const TIE_TEXT: Record<NonNullable<Explanation["tie"]>, string> = {
  "external over student": "a recorded execution goes before the student’s own at equal cost",
  repetition: "the smaller repetition goes first at equal cost",
  position: "the earlier visit goes first at equal cost and repetition",
  source: "the source id decides at equal cost, repetition and visit",
};

function sentence(
  record: RetrievalRecord,
  matched: readonly MatchedVisit[],
  found: { success: Reference | null; failure: Reference | null },
  searched: Explanation["found"],
  { control = "graph", pin, pinFailure }: RetrieveOptions,
  facts: Facts,
): string {
  const parts: string[] = [];
  const count = record.candidates.length;
  const visits = countOf(record.matched_visits, "recorded visit");
  if (record.winner !== null) {
    const eligible = record.matched_visits > count ? `, ${count} of them eligible` : "";
    parts.push(`${visits} share${record.matched_visits === 1 ? "s" : ""} this state${eligible}`);
    const best = record.candidates[0]!;
    if (record.winner.kind === "student") {
      parts.push(
        `the student’s own continuation wins with ${countOf(record.winner.cost, "decision")} left, fewer than ` +
          `${best.cost} from ${best.source}${pin === undefined ? ", so no external record is retained" : ""}`,
      );
    } else {
      const own =
        facts.studentCost === null ? "" : ` (the student’s own continuation takes ${facts.studentCost})`;
      const least = record.candidates.filter(({ cost }) => cost === best.cost).length;
      const tied = facts.tie === null || least < 2 ? "" : `${least} recorded visits tie at this cost: `;
      const tie = facts.tie === null ? "" : `; ${tied}${TIE_TEXT[facts.tie]}`;
      parts.push(
        `${best.source} wins from its visit ${best.position} with ${countOf(best.cost, "decision")} left${own}${tie}`,
      );
    }
  } else {
    if (record.matched_visits > 0) {
      parts.push(
        record.matched_visits === 1
          ? `1 recorded visit shares this state but it is not eligible, because ${commonReason(matched)}`
          : `${visits} share this state but none is eligible, mostly because ${commonReason(matched)}`,
      );
    } else if (facts.unlocated) parts.push("this state was not reliably captured, so nothing can match it");
    else parts.push("no recorded visit shares this state");
    if (record.case === "unmatched_success") {
      parts.push("the student succeeded, so its own execution is used alone");
    } else {
      if (searched.success !== null) parts.push(`successful record: ${searched.success}`);
      if (searched.failure !== null) {
        const unknown = isOfUnknownOutcome(found.failure, facts.prepared);
        parts.push(`${unknown ? "record of unknown outcome" : "failed record"}: ${searched.failure}`);
      }
    }
  }
  if (pin !== undefined) {
    parts.push(`chosen by hand as successful record: ${referenceText(found.success, facts)}`);
  }
  if (pinFailure !== undefined) {
    parts.push(`chosen by hand as failed record: ${referenceText(found.failure, facts)}`);
  }
  if (control === "success-only" && found.failure !== null) {
    parts.push("the success-only control leaves the failed record out");
  }
  if (control === "hindsight-only" && (found.success !== null || found.failure !== null)) {
    parts.push("the hindsight-only control leaves external records out");
  }
  if (control === "minimum-prefix") {
    parts.push(
      "the minimum-prefix control retains the same pair at every decision of the episode instead: " +
        `successful record ${prefixText(record.success)}, failed record ${prefixText(record.failure)}`,
    );
  }
  if (record.terminal_failure_note === true) {
    parts.push("the evidence notes that this decision ended the episode in failure");
  }
  const text = parts.join("; ");
  return `${text[0]!.toUpperCase()}${text.slice(1)}.`;
}

/** Nobody recorded whether the record in the place of a failed one failed. */
export function isOfUnknownOutcome(failure: Reference | null, prepared: PreparedTask): boolean {
  const source = failure === null ? undefined : prepared.source(failure.source);
  return source !== undefined && hasUnknownOutcome(source);
}

/** A reference of the minimum-prefix control. */
function prefixText(reference: Reference | null): string {
  if (reference === null) return "none";
  const { source, shared_prefix: length = 0 } = reference;
  return `${source} (${length === 0 ? "no first action" : countOf(length, "first action")} in common with the student)`;
}

/** v_t^+ where no visit of this state is eligible: at the anchor, or the fallback and why. */
function successText(reference: Reference | null, facts: Facts): string {
  if (reference?.relation !== "historical") {
    const why = "no earlier decision has one";
    return reference === null
      ? `none available (${why}, and ${noSuccessText(facts.prepared)})`
      : fallbackText(reference, facts, "success", why);
  }
  const [best, ...rest] = facts.anchor;
  const count =
    rest.length === 0
      ? "the only eligible visit there"
      : `the first of ${rest.length + 1} eligible visits there`;
  return `${referenceText(reference, facts)} (${count}, ${countOf(best!.cost, "decision")} from its success)`;
}

/** The failed reference: the closest visit at the latest shared state, or the fallback and why. */
function failureText(reference: Reference | null, facts: Facts): string {
  if (reference === null || reference.position === null) {
    const why = "no decision so far shares a state with a failed record";
    return reference === null
      ? `none available (${why}, and ${noFailureText(facts.prepared)})`
      : fallbackText(reference, facts, "failure", why);
  }
  const apart = Math.abs(reference.position - (reference.student_position ?? 0));
  const of =
    facts.failed.length === 1
      ? "the only failed visit there"
      : `the closest of ${facts.failed.length} failed visits there`;
  return `${referenceText(reference, facts)} (${of}, ${apart === 0 ? "at the same step" : `${countOf(apart, "step")} apart`})`;
}

/** A whole record that the rules fall back on. */
function fallbackText(reference: Reference, facts: Facts, kind: "success" | "failure", why: string): string {
  const { source, relation } = reference;
  const length = facts.prepared.source(source)?.decisions.length;
  const chosen =
    relation === "unaligned"
      ? `${source}, ${fallbackRule(kind, facts.prepared.rules)}, not aligned with the student`
      : referenceText(reference, facts);
  return `${chosen} (${why}${length === undefined ? "" : `; it has ${countOf(length, "decision")}`})`;
}

/** By which rule an unaligned record is the one. */
function fallbackRule(
  kind: "success" | "failure",
  rules: Pick<RetrievalRules, "testsUnalignedEntry">,
): string {
  if (kind === "failure") return "the shortest trusted failure of the task";
  return rules.testsUnalignedEntry
    ? "the shortest eligible success of the task"
    : "the shortest trusted success of the task";
}

/** Why FallbackSuccess(D_x) finds nothing. */
function noSuccessText(prepared: PreparedTask): string {
  const { sources } = prepared.graph;
  const trusted = sources.filter(isTrustedSuccess);
  if (trusted.length > 0) {
    const why = commonReason(trusted.map((source) => ({ reasons: prepared.reasons(source, 0) })));
    return trusted.length === 1
      ? `the one trusted success of the task, ${trusted[0]!.source}, is not eligible from its first visit, because ${why}`
      : `none of the ${trusted.length} trusted successes of the task is eligible from its first visit, mostly because ${why}`;
  }
  const { leftOut, rules } = prepared;
  const excluded = leftOut.find(isTrustedSuccess);
  if (excluded !== undefined) {
    return `${excluded.source} is left out, because ${sourceExclusion(excluded, rules)}`;
  }
  const recorded = [...sources, ...leftOut];
  const claims = recorded.filter(reportsSuccess).length;
  if (recorded.length === 0) return "no record of the task takes part";
  if (claims === 0) return "no record of the task claims a success";
  return `${claims === 1 ? "1 record claims" : `${claims} records claim`} a success, but none is a trusted one, and this environment takes no other`;
}

/** Why there is no failed record to fall back on. */
function noFailureText(prepared: PreparedTask): string {
  const recorded = [...prepared.graph.sources, ...prepared.leftOut];
  const open = recorded.filter((source) => !isTrusted(source) && !reportsSuccess(source)).length;
  if (recorded.length === 0) return "no record of the task takes part";
  if (open === 0) return "no record of the task counts as failed";
  return `${open === 1 ? "1 record reports" : `${open} records report`} no success, but none is a trusted failure, and this environment takes no other`;
}

function referenceText(reference: Reference | null, { prepared }: Facts): string {
  if (reference === null) return "none available";
  const { source, position, student_position: u } = reference;
  switch (reference.relation) {
    case "current":
      return `${source}, which shares this state at its visit ${position}`;
    case "historical":
      return `${source}, whose visit ${position} shares the state of the student’s earlier decision ${u}`;
    case "unaligned":
      return `${source}, not aligned with the student`;
    case "unverified": {
      const record = prepared.source(source);
      const why = record === undefined ? null : reservation(record);
      return `${source}, a raw record${why === null ? "" : ` (${why})`}, not aligned with the student`;
    }
  }
}

/** The first failing test of most of the visits. */
function commonReason(matched: readonly Pick<MatchedVisit, "reasons">[]): string {
  const counts = new Map<IneligibleReason, number>();
  for (const { reasons } of matched) {
    const first = reasons[0];
    if (first !== undefined) counts.set(first, (counts.get(first) ?? 0) + 1);
  }
  const [reason] = [...counts].sort((a, b) => b[1] - a[1])[0]!;
  return REASON_TEXT[reason];
}
