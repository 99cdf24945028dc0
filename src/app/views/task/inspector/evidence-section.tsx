/** R_t exactly as the teacher reads it, coloured by where each part comes from. */
import { useMemo, useRef, useState } from "react";
import type { DecisionModel } from "../../../model.ts";
import { Scroller } from "../../../shell/scroller.tsx";
import { evidencePieces, KINDS } from "./evidence-pieces.ts";

export function EvidenceSection({ decision }: { decision: DecisionModel }) {
  const { evidence, counts, countsProblem } = decision;
  const [copied, setCopied] = useState(false);
  const box = useRef<HTMLElement>(null);
  const pieces = useMemo(() => evidencePieces(evidence), [evidence]);
  const kinds = (Object.keys(KINDS) as (keyof typeof KINDS)[]).filter((kind) =>
    pieces.some((piece) => piece.kind === kind),
  );
  const jump = (kind: string): void => {
    const target = box.current?.querySelector<HTMLElement>(`[data-start="${kind}"]`);
    if (target && box.current) box.current.scrollTop = target.offsetTop - box.current.offsetTop;
  };
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(evidence.text);
    setCopied(true);
    setTimeout(() => setCopied(false), 1500);
  };
  const seen = new Set<string>();
  return (
    <section className="part" aria-labelledby="evidence-title">
      <h2 id="evidence-title">Evidence Rₜ</h2>
      <p className="note" data-testid="evidence-counts">
        {counts === null
          ? `${evidence.text.length.toLocaleString("en")} characters${countsProblem === null ? "" : `; ${countsProblem}`}`
          : `${counts.evidence.toLocaleString("en")} tokens, inserted at the end of the user’s message: the teacher reads ${counts.graph.toLocaleString("en")} tokens instead of ${counts.vanilla.toLocaleString("en")}, then the same ${counts.response} response tokens`}
        {evidence.backReferences && "; repeated observations are back-references, to fit the limit"}
      </p>
      <div className="evidence-tools">
        {kinds.map((kind) => (
          <button key={kind} type="button" className={`span-${kind}`} onClick={() => jump(kind)}>
            {KINDS[kind]}
          </button>
        ))}
        <button type="button" onClick={() => void copy()}>
          {copied ? "Copied" : "Copy"}
        </button>
      </div>
      <Scroller className="evidence" ref={box} label="Evidence as the teacher reads it" testId="evidence">
        <pre>
          {pieces.map((piece) => {
            const first = piece.kind !== null && !seen.has(piece.kind);
            if (piece.kind !== null) seen.add(piece.kind);
            return (
              <span
                key={piece.start}
                className={piece.kind === null ? "" : `span-${piece.kind}${piece.heading ? " heading" : ""}`}
                data-start={first ? piece.kind : undefined}
              >
                {piece.text}
              </span>
            );
          })}
        </pre>
      </Scroller>
    </section>
  );
}
