/** The visits of failed records that were compared, best first; drawn once somebody opens them. */
import { useState } from "react";
import { countOf } from "../../../../core/plural.ts";
import type { FailedReferenceExplanation } from "../../../../core/retrieval/types.ts";
import { Name } from "../../../base/text/name.tsx";
import { shownName } from "../../../base/text/shown-text.ts";
import type { DecisionModel } from "../../../data/model.ts";
import { type VisitColumn, VisitTable } from "./visit-table.tsx";
import { ReferenceButton, SourceButton } from "./what-if-buttons.tsx";

const COLUMNS: readonly VisitColumn[] = [
  { title: "execution" },
  { title: "visit", numeric: true },
  { title: "distance", numeric: true },
  { title: "whole cost", numeric: true },
  { title: "what if" },
];

const oneLine = (): number => 0;

export function FailedVisits({
  decision,
  failed,
}: {
  decision: DecisionModel;
  failed: FailedReferenceExplanation;
}) {
  const [open, setOpen] = useState(false);
  return (
    <details open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <span className="flag-failure">⚑</span> {countOf(failed.candidates.length, "visit")} of failed records
        at the student’s decision {failed.studentPosition}
      </summary>
      {open && (
        <VisitTable
          label="Visits of failed records"
          className="failed-visits"
          columns={COLUMNS}
          visits={failed.candidates}
          linesOf={oneLine}
          rowOf={(visit) => ({
            cells: (
              <>
                <th scope="row" title={shownName(visit.source)}>
                  <Name>{shownName(visit.source, 80)}</Name>
                </th>
                <td className="number">{visit.position}</td>
                <td className="number">{visit.distance}</td>
                <td className="number">{visit.wholeCost}</td>
                <td className="what-if-buttons">
                  <ReferenceButton decision={decision} kind="failure" visit={visit} short />
                  <SourceButton source={visit.source} short />
                </td>
              </>
            ),
          })}
        />
      )}
    </details>
  );
}
