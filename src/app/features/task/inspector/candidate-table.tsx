/**
 * Every matched visit, the eligible ones by rank, the others with every reason why not. Visits that are alike are one
 * row, that of the first of them, until it is opened.
 */
import { useMemo, useState } from "react";
import { countOf } from "../../../../core/plural.ts";
import { Mark } from "../../../base/mark.tsx";
import { Name } from "../../../base/text/name.tsx";
import { shownName } from "../../../base/text/shown-text.ts";
import { useUi } from "../../../compute/store.ts";
import { visitName } from "../../../data/compared-visits.ts";
import type { DecisionModel, TaskModel } from "../../../data/model.ts";
import { navigate } from "../../../data/navigate.ts";
import {
  alikeRows,
  alikeText,
  type CandidateRow,
  candidateRows,
  foundRows,
  outcome,
  reasonLines,
} from "./candidate-rows.ts";
import { type VisitColumn, type VisitRow, VisitTable } from "./visit-table.tsx";
import { ReferenceButton, SourceButton } from "./what-if-buttons.tsx";

/** So many visits are found by looking. */
const FILTER_FROM = 30;

const NONE: ReadonlySet<string> = new Set();

const COLUMNS: readonly VisitColumn[] = [
  { title: "rank", numeric: true },
  { title: "execution" },
  { title: "visit", numeric: true },
  { title: "cost", numeric: true },
  { title: "why" },
  { title: "what if" },
];

interface Line {
  row: CandidateRow;
  /** What it is one of, itself included; null where it stands for itself. */
  alike: readonly CandidateRow[] | null;
}

const leads = ({ row, alike }: Line): boolean => alike?.[0] === row;

const linesOf = (line: Line): number => reasonLines(line.row).length + (leads(line) ? 1 : 0);

/** Names a set of rows for as long as the same decision is shown. */
const nameOf = ({ visit }: CandidateRow): string => `${visit.source}@${visit.position}`;

export function CandidateTable({ task, decision }: { task: TaskModel; decision: DecisionModel }) {
  const pinned = useUi((ui) => ui.place.visit);
  const [filter, setFilter] = useState("");
  const rows = useMemo(() => candidateRows(decision), [decision]);
  const [opened, setOpened] = useState<{ of: DecisionModel; names: ReadonlySet<string> }>();
  const open = opened?.of === decision ? opened.names : NONE;
  const lines = useMemo((): Line[] => {
    if (filter.trim() !== "") return foundRows(rows, filter).map((row) => ({ row, alike: null }));
    return alikeRows(rows).flatMap((alike): Line[] => {
      if (alike.length === 1) return [{ row: alike[0]!, alike: null }];
      const shown = open.has(nameOf(alike[0]!)) ? alike : alike.slice(0, 1);
      return shown.map((row) => ({ row, alike }));
    });
  }, [rows, filter, open]);
  if (rows.length === 0) return null;
  const toggle = (name: string): void => {
    const names = new Set(open);
    if (!names.delete(name)) names.add(name);
    setOpened({ of: decision, names });
  };
  const rowOf = (line: Line): VisitRow => {
    const { row, alike } = line;
    const { visit, takesPart } = row;
    const name = nameOf(row);
    const { source: id, position } = visit;
    const source = task.sources.find((each) => each.id === id);
    const isPinned = pinned?.source === id && pinned.position === position;
    const reasons = reasonLines(row);
    return {
      className: `${takesPart && visit.eligible ? "eligible" : "rejected"}${isPinned ? " pinned" : ""}${alike !== null && !leads(line) ? " one-of" : ""}`,
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
              {source && <Mark success={source.success} />} <Name>{shownName(id, 80)}</Name>
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
          {alike !== null && leads(line) && (
            <td className="alike">
              <button
                type="button"
                className="plain link"
                aria-expanded={open.has(name)}
                onClick={() => toggle(name)}
              >
                {alikeText(alike, decision.retrieval.explanation.tie)}{" "}
                <span aria-hidden="true">{open.has(name) ? "▾" : "▸"}</span>
              </button>
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
            {filter.trim() === ""
              ? countOf(rows.length, "visit")
              : `${countOf(lines.length, "visit")} of ${countOf(rows.length, "matched visit")}`}
          </span>
        </p>
      )}
      <VisitTable
        label="Matched visits"
        className="candidates"
        columns={COLUMNS}
        visits={lines}
        linesOf={linesOf}
        rowOf={rowOf}
      />
    </>
  );
}
