/** Every matched visit, the eligible ones by rank, the others with every reason why not. */
import { REASON_TEXT } from "../../../../core/retrieval/index.ts";
import type { Retrieval } from "../../../../core/retrieval/types.ts";
import type { TaskModel } from "../../../model.ts";
import { navigate } from "../../../place/navigate.ts";
import { Mark } from "../../../shell/mark.tsx";
import { Scroller } from "../../../shell/scroller.tsx";
import { useUi } from "../../../state/store.ts";

export function CandidateTable({ task, retrieval }: { task: TaskModel; retrieval: Retrieval }) {
  const pinned = useUi((ui) => ui.place.visit);
  const { matched } = retrieval.explanation;
  const { winner } = retrieval.record;
  if (matched.length === 0) return null;
  const rows = [...matched].sort(
    (a, b) => (a.rank ?? Number.MAX_SAFE_INTEGER) - (b.rank ?? Number.MAX_SAFE_INTEGER),
  );
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
          </tr>
        </thead>
        <tbody>
          {rows.map((visit) => {
            const source = task.sources.find(({ id }) => id === visit.source);
            const won =
              winner?.kind === "source" &&
              winner.source === visit.source &&
              winner.position === visit.position;
            const isPinned = pinned?.source === visit.source && pinned.position === visit.position;
            return (
              <tr
                key={`${visit.source} ${visit.position}`}
                className={`${visit.eligible ? "eligible" : "rejected"}${isPinned ? " pinned" : ""}`}
              >
                <td className="number">{visit.rank ?? "–"}</td>
                <th scope="row">
                  <button
                    type="button"
                    className="plain link"
                    aria-pressed={isPinned}
                    onClick={() =>
                      navigate({
                        visit: isPinned ? null : { source: visit.source, position: visit.position },
                      })
                    }
                  >
                    <Mark success={source?.success ?? false} /> {visit.source}
                  </button>
                </th>
                <td className="number">{visit.position}</td>
                <td className="number">{visit.cost}</td>
                <td>
                  {won
                    ? "★ winner"
                    : visit.eligible
                      ? "eligible"
                      : `not eligible: ${visit.reasons.map((reason) => REASON_TEXT[reason]).join("; ")}`}
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </Scroller>
  );
}
