/**
 * What retrieval decided for one decision, with its explanation: the record of the shared format, and beside it every
 * matched visit with the reason why it was or was not eligible. The page and the command line show these as they are.
 */
import type { RetrievalRecord, State } from "../record/schema.ts";

/** Why a matched visit is not an eligible entry of a successful suffix: b⁺(r,j) = 0 (Section 3.3, "Candidate admission"). */
export type IneligibleReason =
  | "incomplete_record" // outcome.complete is false
  | "unverified_record" // outcome.verified is false
  | "not_successful" // outcome.success is false
  | "gap_in_suffix" // a gap mark between two decisions of the suffix (one before the entry itself is outside)
  | "feedback_mismatch" // a feedback in the suffix differs from the next observation
  | "entry_rejected"
  | "entry_malformed"
  | "entry_rolled_back"
  | "entry_without_action" // an empty action without binding
  | "entry_ruled_out" // entry_allowed of the decision is false
  | "terminal_entry"; // ALFWorld only

/** One member of I_x(z_t). */
export interface MatchedVisit {
  source: string;
  repetition: number;
  position: number;
  /** d(r,j): committed decisions from the visit to the recorded ending. */
  cost: number;
  terminal: boolean;
  eligible: boolean;
  /** Empty when eligible; otherwise every test that failed, in the order above. */
  reasons: IneligibleReason[];
  /** Place in the ranking of C_t^+ from 1, or null when not eligible. */
  rank: number | null;
}

/** A reference chosen by hand: the visit (r, j), or with `position` null the whole record r, not aligned. */
export interface Pin {
  source: string;
  position: number | null;
}

/** How the failed reference was found. */
export interface FailedReferenceExplanation {
  /** Latest student position u shared with a failed record, or null. */
  studentPosition: number | null;
  /** The visits that were compared there, best first, by (|j-u|, d(r,0), repetition, j). */
  candidates: { source: string; position: number; distance: number; wholeCost: number; repetition: number }[];
}

export interface Explanation {
  /** z_t, or null for ⊥. */
  locator: State | null;
  matched: MatchedVisit[];
  /** Cost of the student's own continuation if it was ranked, else null. */
  studentCost: number | null;
  /** Position of the student's continuation in the ranking (1 = winner), or null. */
  studentRank: number | null;
  /** More than one candidate has the least cost: what broke the tie. */
  tie: "external over student" | "repetition" | "position" | "source" | null;
  /** α_t of Eq. (6) and A^+ there, when A_t^+ is empty and an anchor exists. */
  anchor: {
    studentPosition: number;
    candidates: { source: string; position: number; cost: number }[];
  } | null;
  failed: FailedReferenceExplanation | null;
  /**
   * How each reference was found, or why there is none: in words that follow from the records' own flags. Null where
   * the rules searched for none.
   */
  found: { success: string | null; failure: string | null };
  /** The record in the place of a failed one is of unknown outcome: nobody recorded whether it failed. */
  unknownOutcome: boolean;
  /** One sentence for a person: why this reference was retained, or why none was. */
  sentence: string;
}

export interface Retrieval {
  readonly record: RetrievalRecord;
  /** Not a property of the object's own: name it where a retrieval is copied or posted. */
  readonly explanation: Explanation;
}

/** The paper's ablation controls. `graph` is the full method. */
export type Control = "graph" | "success-only" | "hindsight-only" | "minimum-prefix";
