import { eventNumber } from "../../core/evidence/phrases.ts";
import type { EvidencePart } from "../../core/evidence/types.ts";

const RECORDS: Record<EvidencePart["record"], string> = {
  note: "the note on the decision",
  student: "the student’s execution",
  success: "the successful record",
  failure: "the failed record",
};

/** "the successful record", "event 3 of the failed record": numbered as the evidence prints it. */
export function partName({ record, event }: EvidencePart): string {
  return event === null ? RECORDS[record] : `event ${eventNumber(event)} of ${RECORDS[record]}`;
}

export function samePart(a: EvidencePart, b: EvidencePart): boolean {
  return a.record === b.record && a.event === b.event;
}
