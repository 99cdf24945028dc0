/** Matched → eligible → least cost → tie → winner, with what each number counts. */

import type { Retrieval } from "../../../../core/retrieval/types.ts";
import { countOf, plural } from "../../../shell/plural.ts";
import { shownName } from "../../../text/shown-text.ts";

export function Funnel({ retrieval: { record, explanation } }: { retrieval: Retrieval }) {
  const { matched, studentCost, studentRank, tie } = explanation;
  const eligible = matched.filter((visit) => visit.eligible);
  const executions = (visits: typeof matched): number => new Set(visits.map((visit) => visit.source)).size;
  const costs = [...eligible.map((visit) => visit.cost), ...(studentCost === null ? [] : [studentCost])];
  const least = costs.length === 0 ? null : Math.min(...costs);
  const atLeast = costs.filter((cost) => cost === least).length;
  const winner =
    record.winner === null
      ? "none"
      : record.winner.kind === "student"
        ? "the student’s own continuation"
        : `${shownName(record.winner.source, 80)}, visit ${record.winner.position}`;
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
        <span className="muted">{tie === null ? "no tie to break" : `broken by ${tie}`}</span>
      </li>
      <li className={record.winner === null ? "" : "won"}>
        <span className="caption">winner</span>
        <strong data-testid="winner">
          {record.winner !== null && "★ "}
          {winner}
        </strong>
      </li>
    </ol>
  );
}
