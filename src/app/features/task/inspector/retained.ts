/** What retrieval retained for a decision, in words: the answer that the inspector gives first. */

import { eventNumber } from "../../../../core/evidence/phrases.ts";
import { countOf } from "../../../../core/plural.ts";
import type { Reference } from "../../../../core/record/schema.ts";
import type { Retrieval } from "../../../../core/retrieval/types.ts";
import { shownName } from "../../../base/text/shown-text.ts";
import type { DecisionModel } from "../../../data/model.ts";
import { CONTROL_TITLES } from "../../../url/what-if.ts";

export type ReferenceKind = "success" | "failure";

/** Of a retained record: one of unknown outcome can stand in the place of a failed one. */
export type RetainedOutcome = ReferenceKind | "unknown";

export const outcomeOf = (
  kind: ReferenceKind,
  { unknownOutcome }: { unknownOutcome: boolean },
): RetainedOutcome => (kind === "failure" && unknownOutcome ? "unknown" : kind);

/** "successful record", "record of unknown outcome". */
export function outcomeWords(outcome: RetainedOutcome, noun: "record" | "reference"): string {
  if (outcome === "unknown") return `${noun} of unknown outcome`;
  return `${outcome === "success" ? "successful" : "failed"} ${noun}`;
}

/** The ranking's winner, a record that is followed from a visit on, or one that is shown as a whole. */
export function referenceSign({ record }: Retrieval, { source, position }: Reference): "★" | "⚑" | "" {
  const { winner } = record;
  if (winner?.kind === "source" && winner.source === source && winner.position === position) return "★";
  return position === null ? "" : "⚑";
}

/** "teacher:3, visit 5". */
export function referenceName({ source, position }: Reference): string {
  return `${shownName(source, 80)}, ${position === null ? "whole record" : `visit ${position}`}`;
}

/** `2 (event 3)`: a visit or a decision, and what the evidence calls it. */
export const withEvent = (position: number | null): string => `${position} (event ${eventNumber(position)})`;

/** Where the record joins the student's execution. */
export function whereItJoins(reference: Reference): string {
  const { relation, student_position: student, shared_prefix: prefix } = reference;
  const first = prefix === undefined ? "" : `; ${countOf(prefix, "first action")} in common`;
  switch (relation) {
    case "current":
      return `Joins at decision ${withEvent(student)}, the current state${first}.`;
    case "historical":
      return `Joins at decision ${withEvent(student)}, an earlier state of the student${first}.`;
    case "unaligned":
      return `A fallback: shares no state with the student and is shown whole${first}.`;
    case "unverified":
      return `A fallback: a raw record that is shown whole, not aligned with the student${first}.`;
  }
}

/** Decisions from the visit to the record's success; null where it is no success that is followed from a visit. */
export function decisionsLeft({ record, explanation }: Retrieval, reference: Reference): number | null {
  const found = [...record.candidates, ...(explanation.anchor?.candidates ?? [])];
  return (
    found.find(({ source, position }) => source === reference.source && position === reference.position)
      ?.cost ?? null
  );
}

/** Why no record of a kind is retained. */
export function whyNone(
  { retrieval: { record, explanation }, selection }: Pick<DecisionModel, "retrieval" | "selection">,
  kind: ReferenceKind,
): string {
  const { control } = selection;
  if (control === "hindsight-only" || (control === "success-only" && kind === "failure"))
    return `left out under “${CONTROL_TITLES[control]}”.`;
  if (record.winner?.kind === "student" && kind === "success")
    return `the student’s own continuation is shortest, with ${countOf(record.winner.cost, "decision")} left.`;
  if (record.winner !== null) return "looked for only without an eligible success.";
  if (record.case === "unmatched_success")
    return "the student succeeded, so its own execution is used alone.";
  const found = explanation.found[kind];
  const reason = found === null ? null : /^none available \((.*)\)$/s.exec(found)?.[1];
  return reason == null ? "none is available." : `${reason}.`;
}
