/** Every matched visit, the eligible ones by rank, the others with every reason why not. */
import { useState } from "react";
import { REASON_TEXT } from "../../../../core/retrieval/index.ts";
import type { MatchedVisit } from "../../../../core/retrieval/types.ts";
import type { DecisionModel, TaskModel } from "../../../model.ts";
import { navigate } from "../../../place/navigate.ts";
import { Mark } from "../../../shell/mark.tsx";
import { countOf } from "../../../shell/plural.ts";
import { Scroller } from "../../../shell/scroller.tsx";
import { useUi } from "../../../state/store.ts";
import { shownName } from "../../../text/shown-text.ts";
import { visitName } from "../compare/choose.ts";
import { ReferenceButton, SourceButton } from "./what-if-buttons.tsx";

/** So many rows are drawn at first, the winner's among them; and so many more with each press. */
const FIRST_ROWS = 150;
const MORE_ROWS = 1000;

/** Visits of executions that are switched off, which would match. */
function visitsOff({ full, selection }: DecisionModel): MatchedVisit[] {
  const off = new Set(selection.without);
  return full?.retrieval.explanation.matched.filter(({ source }) => off.has(source)) ?? [];
}

export function CandidateTable({ task, decision }: { task: TaskModel; decision: DecisionModel }) {
  const pinned = useUi((ui) => ui.place.visit);
  const { matched } = decision.retrieval.explanation;
  const { winner } = decision.retrieval.record;
  // Another decision's table begins again at its first rows.
  const [shown, setShown] = useState({ matched, most: FIRST_ROWS });
  const most = shown.matched === matched ? shown.most : FIRST_ROWS;
  const off = visitsOff(decision);
  if (matched.length + off.length === 0) return null;
  const ranked = [...matched].sort(
    (a, b) => (a.rank ?? Number.MAX_SAFE_INTEGER) - (b.rank ?? Number.MAX_SAFE_INTEGER),
  );
  const sorted = [
    ...ranked.map((visit) => ({ visit, takesPart: true })),
    ...off.map((visit) => ({ visit, takesPart: false })),
  ];
  const rows = sorted.slice(0, most);
  return (
    <Scroller className="candidates" label="Matched visits">
      <table>
        <thead>
          <tr>
            <th scope="col" className="number">
              rank
            </th>
            <th scope="col">execution</th>
            <th scope="col" className="number">
              visit
            </th>
            <th scope="col" className="number">
              cost
            </th>
            <th scope="col">why</th>
            <th scope="col">what if</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ visit, takesPart }) => {
            const source = task.sources.find(({ id }) => id === visit.source);
            const won =
              takesPart &&
              winner?.kind === "source" &&
              winner.source === visit.source &&
              winner.position === visit.position;
            const isPinned = pinned?.source === visit.source && pinned.position === visit.position;
            return (
              <tr
                key={`${visit.source} ${visit.position}`}
                className={`${takesPart && visit.eligible ? "eligible" : "rejected"}${isPinned ? " pinned" : ""}`}
              >
                <td className="number">{(takesPart ? visit.rank : null) ?? "–"}</td>
                <th scope="row">
                  <button
                    type="button"
                    className="plain link"
                    data-visit={visitName({ kind: "source", id: visit.source, position: visit.position })}
                    aria-pressed={isPinned}
                    onClick={() =>
                      navigate({
                        visit: isPinned ? null : { source: visit.source, position: visit.position },
                      })
                    }
                  >
                    {source && <Mark success={source.success} />} <bdi>{shownName(visit.source, 80)}</bdi>
                  </button>
                </th>
                <td className="number">{visit.position}</td>
                <td className="number">{visit.cost}</td>
                <td>
                  {!takesPart
                    ? "switched off"
                    : won
                      ? "★ winner"
                      : visit.eligible
                        ? "eligible"
                        : `not eligible: ${visit.reasons.map((reason) => REASON_TEXT[reason]).join("; ")}`}
                </td>
                <td className="what-if-buttons">
                  {takesPart && visit.eligible && (
                    <ReferenceButton decision={decision} kind="success" visit={visit} short />
                  )}
                  <SourceButton source={visit.source} short />
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
      {rows.length < sorted.length && (
        <p className="more-rows">
          {countOf(rows.length, "visit")} of {sorted.length.toLocaleString("en")}{" "}
          <button type="button" onClick={() => setShown({ matched, most: most + MORE_ROWS })}>
            {sorted.length - rows.length <= MORE_ROWS
              ? "Show all"
              : `Show ${MORE_ROWS.toLocaleString("en")} more`}
          </button>
        </p>
      )}
    </Scroller>
  );
}
