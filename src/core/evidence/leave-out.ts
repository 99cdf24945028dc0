/**
 * Leave-one-out: the evidence of the same retrieval without one of its parts (or several, one after the other), for the
 * question which part moved a token. What is left is rendered as any evidence is (Eq. (7)); no text is cut out of a
 * rendered one.
 */

import { InputError } from "../errors.ts";
import { attemptsAfterLast, type Source } from "../record/schema.ts";
import { eventNumber } from "./phrases.ts";
import type { EvidenceInput, EvidencePart } from "./types.ts";

/** True for a part that is left out already, by itself or with the whole record. */
function isLeftOut({ leftOut = [] }: EvidenceInput, { record, event }: EvidencePart): boolean {
  return leftOut.some((each) => each.record === record && (each.event === null || each.event === event));
}

/**
 * The note, the student's execution, the successful and the failed record, as far as the evidence has them. Evidence
 * that was written by hand has no parts.
 */
export function evidenceRecords(input: EvidenceInput): EvidencePart[] {
  if (input.text !== undefined) return [];
  const records: EvidencePart["record"][] = [];
  if (input.retrieval.terminal_failure_note === true) records.push("note");
  records.push("student");
  if (input.control !== "hindsight-only") {
    if (input.success !== null) records.push("success");
    if (input.failure !== null) records.push("failure");
  }
  return records
    .map((record): EvidencePart => ({ record, event: null }))
    .filter((part) => !isLeftOut(input, part));
}

/**
 * Every event that the evidence prints of a record, in order; a source's last one is its terminal visit, where that is
 * printed. Throws `InputError` when the evidence has no such record.
 */
export function evidenceEvents(input: EvidenceInput, record: EvidencePart["record"]): EvidencePart[] {
  checkRecord(input, record);
  if (record === "note") return [];
  const execution = record === "student" ? input.episode : input[record]!;
  const { length } = execution.decisions;
  const events = Array.from({ length }, (_, event): EvidencePart => ({ record, event }));
  if (record !== "student" && printsEnd(input[record]!, input.retrieval[record]?.position ?? null)) {
    events.push({ record, event: length });
  }
  return events.filter((part) => !isLeftOut(input, part));
}

/** True when a source's terminal visit is an event of its own: it is the matched one, or attempts were made there. */
function printsEnd(source: Source, matched: number | null): boolean {
  return matched === source.decisions.length || attemptsAfterLast(source).length > 0;
}

/**
 * What `renderEvidence` and `fitEvidence` take to render the evidence without one part.
 *
 * Without a retained record or the note: exactly the evidence of the same retrieval that does not retain it (nothing
 * is retrieved in its place). Without the student's execution: the retained records and the reading rule. Without an
 * event: every other line as it was, the events' numbers too; the observation that the next event leaves to the
 * feedback before it stays unprinted, so that what was left out does not come back there.
 *
 * @returns null when nothing would be left: the teacher then reads the vanilla context
 * @throws InputError when the evidence has no such part
 */
export function withoutPart(input: EvidenceInput, part: EvidencePart): EvidenceInput | null {
  const { record, event } = part;
  checkRecord(input, record);
  if (event !== null) {
    if (!evidenceEvents(input, record).some((each) => each.event === event)) {
      throw new InputError(`the ${NAMES[record]} of the evidence has no event ${eventNumber(event)}`);
    }
    return { ...input, leftOut: [...(input.leftOut ?? []), { record, event }] };
  }
  if (evidenceRecords(input).length === 1) return null;
  switch (record) {
    case "note":
      return { ...input, retrieval: { ...input.retrieval, terminal_failure_note: false } };
    case "student":
      return { ...input, leftOut: [...(input.leftOut ?? []), { record, event }] };
    case "success":
      return { ...input, success: null, retrieval: { ...input.retrieval, success: null } };
    case "failure":
      return { ...input, failure: null, retrieval: { ...input.retrieval, failure: null } };
  }
}

/** `withoutPart` for each of several parts. Whole records go first: events of them are then left out with them. */
export function withoutParts(input: EvidenceInput, parts: readonly EvidencePart[]): EvidenceInput | null {
  const whole = parts.filter(({ event }) => event === null);
  const events = parts.filter(
    ({ record, event }) => event !== null && !whole.some((each) => each.record === record),
  );
  let rest: EvidenceInput | null = input;
  for (const part of [...whole, ...events]) {
    // What would be left of nothing is nothing; what is not there is still refused.
    if (rest === null) checkRecord(input, part.record);
    else rest = withoutPart(rest, part);
  }
  return rest;
}

const NAMES: Record<EvidencePart["record"], string> = {
  note: "note",
  student: "student's execution",
  success: "successful record",
  failure: "failed record",
};

function checkRecord(input: EvidenceInput, record: EvidencePart["record"]): void {
  if (evidenceRecords(input).some((each) => each.record === record)) return;
  throw new InputError(
    `the evidence of decision ${input.decision} of episode ${input.episode.episode} has no ${NAMES[record]}`,
  );
}
