import type { EvidencePart } from "../../core/evidence/leave-out.ts";

const RECORDS: Record<EvidencePart["record"], string> = {
  note: "the note on the decision",
  student: "the student’s execution",
  success: "the successful record",
  failure: "the failed record",
};

/** "the successful record", "event 3 of the failed record". */
export function partName({ record, event }: EvidencePart): string {
  return event === null ? RECORDS[record] : `event ${event} of ${RECORDS[record]}`;
}
