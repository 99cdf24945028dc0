import type { Episode, RetrievalRecord, Source } from "../record/schema.ts";
import type { Control } from "../retrieval/types.ts";

/** The rendered evidence R_t with the provenance of each part, so that a view can jump from text to record. */
export interface EvidenceSpan {
  /** Character offsets in the text, [start, end). */
  start: number;
  end: number;
  kind: "student" | "success" | "failure";
  /** A `note` is one on the scored decision itself, before everything else. */
  part: "note" | "heading" | "event" | "outcome";
  /** Source id; null for the student's own execution. */
  source: string | null;
  /** Event position j, or null for headings and outcomes. */
  position: number | null;
}

export interface Evidence {
  /** R_t exactly as the teacher reads it. */
  text: string;
  spans: EvidenceSpan[];
  /** True when repeated observations were replaced by back-references to fit the budget. */
  backReferences: boolean;
}

/** Where nothing is left of it: the teacher reads the vanilla context. */
export const NO_EVIDENCE: Evidence = { text: "", spans: [], backReferences: false };

/** What can be left out: the note on the scored decision, a whole record, or one event of a record. */
export interface EvidencePart {
  record: (typeof EVIDENCE_RECORDS)[number];
  /** Event position in the record, from 0 (a reader is told one more, see `eventNumber`); null for the whole of it. */
  event: number | null;
}

/** In the order in which evidence has them. */
export const EVIDENCE_RECORDS = ["note", "student", "success", "failure"] as const;

export interface EvidenceInput {
  episode: Episode;
  /** t, from 0: the decision that is scored. */
  decision: number;
  /** What retrieval retained for that decision. */
  retrieval: RetrievalRecord;
  /** The complete record that `retrieval.success` names; null when it names none. */
  success: Source | null;
  /** The complete record that `retrieval.failure` names; null when it names none. */
  failure: Source | null;
  /**
   * Parts that are not printed (see `withoutPart`): the student's execution or single events. What is printed of the
   * others stays as it was.
   */
  leftOut?: readonly EvidencePart[];
  /** R_t written by hand (not in the paper): it stands in place of everything that would be rendered. */
  text?: string;
  /** `hindsight-only` puts the student's execution in `<student_hindsight>` tags. `graph` when absent. */
  control?: Control;
}
