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
