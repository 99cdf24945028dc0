/** Every matched visit, the eligible ones by rank, the others with every reason why not. */
import { useMemo, useState } from "react";
import type { DecisionModel, TaskModel } from "../../../model.ts";
import { navigate } from "../../../place/navigate.ts";
import { Mark } from "../../../shell/mark.tsx";
import { countOf } from "../../../shell/plural.ts";
import { useUi } from "../../../state/store.ts";
import { shownName } from "../../../text/shown-text.ts";
import { visitName } from "../compare/choose.ts";
import { type CandidateRow, candidateRows, foundRows, outcome, reasonLines } from "./candidate-rows.ts";
import { type VisitColumn, type VisitRow, VisitTable } from "./visit-table.tsx";
import { ReferenceButton, SourceButton } from "./what-if-buttons.tsx";

/** So many visits are found by looking. */
const FILTER_FROM = 30;

const COLUMNS: readonly VisitColumn[] = [
  { title: "rank", numeric: true },
  { title: "execution" },
  { title: "visit", numeric: true },
  { title: "cost", numeric: true },
  { title: "why" },
  { title: "what if" },
];

const linesOf = (row: CandidateRow): number => reasonLines(row).length;

export function CandidateTable({ task, decision }: { task: TaskModel; decision: DecisionModel }) {
  const pinned = useUi((ui) => ui.place.visit);
  const [filter, setFilter] = useState("");
  const rows = useMemo(() => candidateRows(decision), [decision]);
  const found = useMemo(() => foundRows(rows, filter), [rows, filter]);
  if (rows.length === 0) return null;
  const rowOf = (row: CandidateRow): VisitRow => {
    const { visit, takesPart } = row;
    const { source: id, position } = visit;
    const source = task.sources.find((each) => each.id === id);
    const isPinned = pinned?.source === id && pinned.position === position;
    const reasons = reasonLines(row);
    return {
      className: `${takesPart && visit.eligible ? "eligible" : "rejected"}${isPinned ? " pinned" : ""}`,
      cells: (
        <>
          <td className="number">{(takesPart ? visit.rank : null) ?? "–"}</td>
          <th scope="row">
            <button
              type="button"
              className="plain link"
              title={shownName(id)}
              data-visit={visitName({ kind: "source", id, position })}
              aria-pressed={isPinned}
              onClick={() => navigate({ visit: isPinned ? null : { source: id, position } })}
            >
              {source && <Mark success={source.success} />} <bdi>{shownName(id, 80)}</bdi>
            </button>
          </th>
          <td className="number">{position}</td>
          <td className="number">{visit.cost}</td>
          {reasons.length === 0 ? (
            <td className="why">{outcome(row)}</td>
          ) : (
            <td className="why reasons" title={outcome(row)}>
              {reasons.map((reason) => (
                <span key={reason}>{reason}</span>
              ))}
            </td>
          )}
          <td className="what-if-buttons">
            {takesPart && visit.eligible && (
              <ReferenceButton decision={decision} kind="success" visit={visit} short />
            )}
            <SourceButton source={id} short />
          </td>
        </>
      ),
    };
  };
  return (
    <>
      {(rows.length > FILTER_FROM || filter !== "") && (
        <p className="find-visits">
          <input
            type="search"
            value={filter}
            aria-label="Find matched visits"
            placeholder="execution, visit 5, or reason"
            onChange={(event) => setFilter(event.target.value)}
          />
          <span className="note" role="status">
            {found.length === rows.length
              ? countOf(rows.length, "visit")
              : `${countOf(found.length, "visit")} of ${countOf(rows.length, "matched visit")}`}
          </span>
        </p>
      )}
      <VisitTable
        label="Matched visits"
        className="candidates"
        columns={COLUMNS}
        visits={found}
        linesOf={linesOf}
        rowOf={rowOf}
      />
    </>
  );
}
