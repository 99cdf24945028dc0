/** R_t exactly as the teacher reads it, coloured by where each part comes from. */
import { memo, useEffect, useMemo, useRef, useState } from "react";
import type { EvidencePart } from "../../../../core/evidence/types.ts";
import { LongText } from "../../../base/text/long-text.tsx";
import { useAtRest } from "../../../base/use-at-rest.ts";
import { useInSight } from "../../../base/use-in-sight.ts";
import { teacherReads } from "../../../compute/scoring/score.ts";
import { useUi } from "../../../compute/store.ts";
import type { DecisionModel } from "../../../data/model.ts";
import { navigate } from "../../../data/navigate.ts";
import { partName } from "../../../url/part-name.ts";
import {
  EVIDENCE_MODES,
  type EvidenceMode,
  openEvidenceEditor,
  showEvidence,
  useDrafts,
  useEvidenceMode,
} from "../evidence-editing.ts";
import { EvidenceDiffView } from "./evidence-diff-view.tsx";
import { EvidenceEditor } from "./evidence-editor.tsx";
import { type EvidencePiece, evidencePieces, isOf, KINDS } from "./evidence-pieces.ts";
import { PartSteps } from "./part-steps.tsx";

function pieceClass(piece: EvidencePiece, part: EvidencePart | null): string {
  if (piece.kind === null) return "";
  const pointed = part !== null && isOf(piece, part);
  return `span-${piece.kind}${piece.heading ? " heading" : ""}${pointed ? " pointed" : ""}`;
}

const MODE_TITLES: Record<EvidenceMode, string> = { text: "Text", changes: "Changes", edit: "Edit" };

/** The evidence of the shown decision. While it is out of sight it is drawn only once stepping pauses. */
export function EvidenceSection({ decision }: { decision: DecisionModel }) {
  const section = useRef<HTMLElement>(null);
  const inSight = useInSight(section);
  const pointed = useUi((ui) => ui.place.part !== null);
  const mode = useEvidenceMode(({ mode }) => mode);
  const shown = useAtRest(decision, inSight || pointed || mode === "edit");
  return (
    <section
      ref={section}
      className="part evidence-part"
      aria-labelledby="evidence-title"
      data-part="evidence"
      tabIndex={-1}
      aria-busy={shown === decision ? undefined : true}
    >
      <h2 id="evidence-title">Evidence Rₜ</h2>
      <EvidenceParts decision={shown} />
    </section>
  );
}

const EvidenceParts = memo(function EvidenceParts({ decision }: { decision: DecisionModel }) {
  const { evidence, counts, countsProblem, full } = decision;
  const chosen = useEvidenceMode(({ mode }) => mode);
  const pointsAt = useUi((ui) => ui.place.part);
  const present = full === null || pointsAt !== null ? "text" : "changes";
  const mode = chosen === null || (chosen === "changes" && full === null) ? present : chosen;
  const place = JSON.stringify([decision.library, decision.task, decision.episode, decision.decision]);
  const unapplied = useDrafts(({ [place]: draft }) => draft !== undefined && draft !== evidence.text);
  const [copied, setCopied] = useState(false);
  const box = useRef<HTMLElement>(null);
  const pieces = useMemo(() => evidencePieces(evidence), [evidence]);
  const kinds = (Object.keys(KINDS) as (keyof typeof KINDS)[]).filter((kind) =>
    pieces.some((piece) => piece.kind === kind),
  );
  const jump = (kind: string): void => {
    box.current?.querySelector(`[data-start="${kind}"]`)?.scrollIntoView({ block: "start" });
  };
  const part = useUi((ui) => ui.place.part);
  const pointed = part !== null && pieces.some((piece) => isOf(piece, part));
  // biome-ignore lint/correctness/useExhaustiveDependencies: another part moves the mark
  useEffect(() => {
    if (!pointed || box.current === null) return;
    box.current.querySelector("[data-pointed]")?.scrollIntoView({ block: "start" });
    // Stepping from part to part keeps the focus on the button.
    if (document.activeElement?.closest(".evidence-tools") == null)
      box.current.focus({ preventScroll: true });
  }, [pointed, part]);
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(evidence.text);
    setCopied(true);
    setTimeout(() => setCopied(false), 1500);
  };
  const seen = new Set<string>();
  return (
    <>
      <p className="note" data-testid="evidence-counts">
        {counts === null
          ? `${evidence.text.length.toLocaleString("en")} characters${countsProblem === null ? "" : `; ${countsProblem}`}`
          : `${counts.evidence.toLocaleString("en")} tokens, inserted at the end of the user’s message: the teacher reads ${teacherReads(counts)}`}
        {counts !== null &&
          counts.cut > 0 &&
          `; the first ${counts.cut.toLocaleString("en")} tokens of the student’s prompt are cut, to fit its limit`}
        {evidence.backReferences && "; repeated observations are back-references, to fit the limit"}
      </p>
      {part !== null && (
        <p className="note" role={pointed ? undefined : "alert"} data-testid="pointed">
          {pointed ? `Marked: ${partName(part)}.` : `This evidence does not have ${partName(part)}.`}{" "}
          <button type="button" onClick={() => navigate({ part: null })}>
            Unmark
          </button>
        </p>
      )}
      <div className="evidence-tools">
        <fieldset className="segmented">
          <legend className="hidden-visually">Show the evidence as</legend>
          {EVIDENCE_MODES.map((each) => (
            <button
              key={each}
              type="button"
              aria-pressed={mode === each}
              disabled={each === "changes" && full === null}
              title={each === "changes" && full === null ? "Nothing is changed yet" : undefined}
              onClick={() => (each === "edit" ? openEvidenceEditor() : showEvidence(each))}
            >
              {MODE_TITLES[each]}
              {each === "edit" && mode !== "edit" && unapplied && " (not applied)"}
            </button>
          ))}
        </fieldset>
        {mode === "text" &&
          kinds.map((kind) => (
            <button key={kind} type="button" className={`span-${kind}`} onClick={() => jump(kind)}>
              {kind === "failure" && decision.retrieval.explanation.unknownOutcome
                ? "record of unknown outcome"
                : KINDS[kind]}
            </button>
          ))}
        {mode === "text" && <PartSteps pieces={pieces} part={part} />}
        <button type="button" onClick={() => void copy()}>
          {copied ? "Copied" : "Copy"}
        </button>
      </div>
      {mode === "changes" && full !== null && <EvidenceDiffView diff={full.diff} />}
      {mode === "edit" && <EvidenceEditor key={place} at={place} decision={decision} />}
      {mode === "text" && (
        <section
          className="evidence"
          ref={box}
          aria-label="Evidence as the teacher reads it"
          tabIndex={-1}
          data-testid="evidence"
        >
          <pre>
            {pieces.map((piece, i) => {
              const first = piece.kind !== null && !seen.has(piece.kind);
              if (piece.kind !== null) seen.add(piece.kind);
              return (
                <span
                  // A step changes nearly every piece, so their elements are reused.
                  // biome-ignore lint/suspicious/noArrayIndexKey: the pieces have no name that stays
                  key={i}
                  className={pieceClass(piece, part)}
                  data-pointed={(part !== null && isOf(piece, part)) || undefined}
                  data-start={first ? piece.kind : undefined}
                >
                  <LongText text={piece.text} />
                </span>
              );
            })}
          </pre>
        </section>
      )}
    </>
  );
});
