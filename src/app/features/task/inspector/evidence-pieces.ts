/** R_t cut into what each part comes from. */
import type { Evidence, EvidencePart } from "../../../../core/evidence/types.ts";

export const KINDS = {
  student: "student’s execution",
  success: "successful record",
  failure: "failed record",
} as const;

export interface EvidencePiece {
  text: string;
  kind: keyof typeof KINDS | null;
  heading: boolean;
  start: number;
  /** The record and, for an event, its position; null where the text is of no record. */
  part: EvidencePart | null;
}

/** True where a piece is of the record, or of the event, that is pointed at. */
export function isOf(piece: EvidencePiece, { record, event }: EvidencePart): boolean {
  return piece.part?.record === record && (event === null || piece.part.event === event);
}

/**
 * The text in order, cut at the spans: joined again it is the text. White space between two spans goes with the first;
 * other text between spans has no kind.
 */
export function evidencePieces({ text, spans }: Evidence): EvidencePiece[] {
  const pieces: EvidencePiece[] = [];
  let at = 0;
  for (const span of [...spans].sort((a, b) => a.start - b.start)) {
    const between = text.slice(at, span.start);
    const before = pieces.at(-1);
    if (before !== undefined && between.trim() === "") before.text += between;
    else if (span.start > at) {
      pieces.push({ text: between, kind: null, heading: false, start: at, part: null });
    }
    const start = Math.max(at, span.start);
    if (span.end <= start) continue;
    pieces.push({
      text: text.slice(start, span.end),
      kind: span.kind,
      heading: span.part === "heading",
      start,
      part: {
        record: span.part === "note" ? "note" : span.kind,
        event: span.part === "event" ? span.position : null,
      },
    });
    at = span.end;
  }
  if (at < text.length)
    pieces.push({ text: text.slice(at), kind: null, heading: false, start: at, part: null });
  return pieces;
}
