/** The successful reference where the current state has none: the historical anchor, or a fallback. */
import type { Retrieval } from "../../../../core/retrieval/types.ts";
import { goToDecision } from "../../../place/navigate.ts";
import { countOf } from "../../../shell/plural.ts";
import { Fallback } from "./fallback.tsx";
import { ReferenceLine } from "./reference-line.tsx";

export function AnchorSection({
  retrieval: { record, explanation },
  byRules,
}: {
  retrieval: Retrieval;
  /** The rules of retrieval chose the record. */
  byRules: boolean;
}) {
  if (record.case === "matched_success" && record.success === null) return null;
  const { anchor } = explanation;
  return (
    <section className="part" aria-labelledby="success-title">
      <h2 id="success-title">Successful reference</h2>
      {record.success === null ? (
        <p className="muted">None retained.</p>
      ) : (
        <ReferenceLine reference={record.success} />
      )}
      {byRules && anchor === null && record.success !== null && (
        <Fallback reference={record.success} found={explanation.found.success} />
      )}
      {anchor && (
        <p>
          <span className="flag-success">⚑</span> Anchor: the latest decision with an eligible success is{" "}
          <button type="button" className="plain link" onClick={() => goToDecision(anchor.studentPosition)}>
            decision {anchor.studentPosition}
          </button>
          , where {countOf(anchor.candidates.length, "visit")} can be followed to a success; the cheapest
          needs {anchor.candidates[0]?.cost ?? "–"} more decisions.
        </p>
      )}
    </section>
  );
}
