/**
 * A what-if: the method with something changed by hand. Sources and references are changed where retrieval chooses
 * them (`Selection`), the text where it is shown (here). The student's prompt and response are never part of it.
 */
import type { Episode, RetrievalRecord } from "../record/schema.ts";
import type { PreparedTask } from "../retrieval/prepare.ts";
import type { Selection } from "../retrieval/selection.ts";
import { evidenceInput } from "./evidence-input.ts";
import { withoutParts } from "./leave-out.ts";
import type { EvidenceInput, EvidencePart } from "./types.ts";

export interface WhatIf extends Selection {
  /** Parts of the evidence that the teacher is not shown. */
  leaveOut?: readonly EvidencePart[];
  /** R_t written by hand: the teacher reads it in place of what would be rendered, whatever was retrieved. */
  text?: string;
}

/**
 * What `renderEvidence` and `fitEvidence` take to render the evidence of a retrieval under a what-if. Without edits it
 * is `evidenceInput`.
 *
 * @returns null when nothing would be left, or the text is blank: the teacher then reads the vanilla context
 * @throws InputError when the evidence has no such part
 */
export function whatIfInput(
  prepared: PreparedTask,
  episode: Episode,
  retrieval: RetrievalRecord,
  { control, leaveOut = [], text }: WhatIf,
): EvidenceInput | null {
  const input = evidenceInput(prepared, episode, retrieval, control);
  if (text !== undefined) return text.trim() === "" ? null : { ...input, text };
  return withoutParts(input, leaveOut);
}
