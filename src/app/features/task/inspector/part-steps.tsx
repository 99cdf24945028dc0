/** Goes through the parts of the evidence, and from the marked one to the tokens that it moved. */

import { useMemo } from "react";
import type { EvidencePart } from "../../../../core/evidence/types.ts";
import { navigate } from "../../../data/navigate.ts";
import { samePart } from "../../../url/part-name.ts";
import type { EvidencePiece } from "./evidence-pieces.ts";

/** Each part once: a record where its heading is, then its events. */
export function partsOf(pieces: readonly EvidencePiece[]): EvidencePart[] {
  const parts = new Map<string, EvidencePart>();
  for (const { part } of pieces) {
    if (part === null) continue;
    const name = `${part.record} ${part.event}`;
    if (!parts.has(name)) parts.set(name, part);
  }
  return [...parts.values()];
}

export function PartSteps({ pieces, part }: { pieces: readonly EvidencePiece[]; part: EvidencePart | null }) {
  const parts = useMemo(() => partsOf(pieces), [pieces]);
  const at = part === null ? -1 : parts.findIndex((each) => samePart(each, part));
  const go = (to: EvidencePart | undefined): void => {
    if (to !== undefined) navigate({ part: to });
  };
  return (
    <>
      <button type="button" disabled={at <= 0} onClick={() => go(parts[at - 1])}>
        ‹ Part before
      </button>
      <button type="button" disabled={at + 1 >= parts.length} onClick={() => go(parts[at + 1])}>
        {at < 0 ? "Mark the first part" : "Part after ›"}
      </button>
      {at >= 0 && (
        <button type="button" onClick={() => navigate({ view: "tokens" }, "push")}>
          Tokens it moved
        </button>
      )}
    </>
  );
}
