/** R_t cut into what each part comes from. */
import type { Evidence } from "../../../../core/evidence/types.ts";

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
      pieces.push({ text: between, kind: null, heading: false, start: at });
    }
    const start = Math.max(at, span.start);
    if (span.end <= start) continue;
    pieces.push({
      text: text.slice(start, span.end),
      kind: span.kind,
      heading: span.part === "heading",
      start,
    });
    at = span.end;
  }
  if (at < text.length) pieces.push({ text: text.slice(at), kind: null, heading: false, start: at });
  return pieces;
}
