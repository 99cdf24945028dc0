/** Matched → eligible → least cost → tie → retained, with what each number counts. */

import { countOf, plural } from "../../../../core/plural.ts";
import { TIE_WORD } from "../../../../core/retrieval/index.ts";
import type { Retrieval } from "../../../../core/retrieval/types.ts";
import { outcomeOf, type ReferenceKind, referenceName, referenceSign } from "./retained.ts";

export function Funnel({ retrieval }: { retrieval: Retrieval }) {
  const { record, explanation } = retrieval;
  const { matched, studentCost, studentRank, tie } = explanation;
  const eligible = matched.filter((visit) => visit.eligible);
  const executions = (visits: typeof matched): number => new Set(visits.map((visit) => visit.source)).size;
  const costs = [...eligible.map((visit) => visit.cost), ...(studentCost === null ? [] : [studentCost])];
  const least = costs.length === 0 ? null : Math.min(...costs);
  const atLeast = costs.filter((cost) => cost === least).length;
  return (
    <ol className="funnel">
      <li>
        <span className="caption">matched</span>
        <strong data-testid="matched">{matched.length}</strong> {plural(matched.length, "visit")}
        <span className="muted">of {countOf(executions(matched), "execution")}</span>
      </li>
      <li>
        <span className="caption">eligible</span>
        <strong data-testid="eligible">{eligible.length}</strong> {plural(eligible.length, "visit")}
        <span className="muted">of {countOf(executions(eligible), "execution")}</span>
      </li>
      <li>
        <span className="caption">least cost</span>
        <strong>{least ?? "–"}</strong> {least === null ? "" : plural(least, "decision")}
        <span className="muted">
          {studentCost === null
            ? least === null
              ? "nothing to rank"
              : "student not ranked"
            : `student’s own path: ${studentCost}, rank ${studentRank}`}
        </span>
      </li>
      <li>
        <span className="caption">tie</span>
        <strong>{least === null ? "–" : atLeast}</strong> {least === null ? "" : "at it"}
        <span className="muted">
          {tie === null ? "no tie to break" : `broken by ${TIE_WORD[tie]}`}
          {tie !== null && studentCost === least && "; one is the student’s own"}
        </span>
      </li>
      <li>
        <span className="caption">retained</span>
        <span data-testid="retained">
          <RetainedName retrieval={retrieval} kind="success" />
          <RetainedName retrieval={retrieval} kind="failure" />
          {record.success === null && record.failure === null && (
            <strong>
              {record.winner?.kind === "student" ? "the student’s own continuation" : "no record"}
            </strong>
          )}
        </span>
      </li>
    </ol>
  );
}

function RetainedName({ retrieval, kind }: { retrieval: Retrieval; kind: ReferenceKind }) {
  const reference = retrieval.record[kind];
  if (reference === null) return null;
  const outcome = outcomeOf(kind, retrieval.explanation);
  const sign = { success: referenceSign(retrieval, reference), failure: "✕", unknown: "?" }[outcome];
  return (
    <strong className={`flag-${outcome}`}>
      {sign === "" ? "" : `${sign} `}
      {referenceName(reference)}
    </strong>
  );
}
