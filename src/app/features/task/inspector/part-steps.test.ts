import { expect, it } from "vitest";
import type { EvidencePart } from "../../../../core/evidence/types.ts";
import type { EvidencePiece } from "./evidence-pieces.ts";
import { partsOf } from "./part-steps.tsx";

it("has each part of the evidence once, in its order, and none for text of no record", () => {
  const piece = (part: EvidencePart | null): EvidencePiece => ({
    text: "…",
    kind: part === null || part.record === "note" ? null : part.record,
    heading: false,
    start: 0,
    part,
  });
  const heading: EvidencePart = { record: "success", event: null };
  const event: EvidencePart = { record: "success", event: 3 };
  const pieces = [piece(null), piece(heading), piece(event), piece({ ...event }), piece(heading)];
  expect(partsOf(pieces)).toEqual([heading, event]);
});
