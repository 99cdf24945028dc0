/** A pinned visit (r, j): what that execution saw and did there. */
import { useEffect, useState } from "react";
import type { SourceDecision } from "../../../../core/record/schema.ts";
import type { TaskModel } from "../../../model.ts";
import { navigate } from "../../../place/navigate.ts";
import type { VisitRef } from "../../../place/place.ts";
import { describeFault } from "../../../session/faults.ts";
import { Mark } from "../../../shell/mark.tsx";
import { libraryWorker } from "../../../workers/clients.ts";
import { describeState } from "../describe-cell.ts";
import { Folded } from "./decision-section.tsx";

type Shown = { decision: SourceDecision | null } | { problem: string };

export function PinnedVisit({ task, visit }: { task: TaskModel; visit: VisitRef }) {
  const [shown, setShown] = useState<Shown | null>(null);
  const { source: id, position } = visit;
  const { environment, task: name } = task;
  useEffect(() => {
    let current = true;
    libraryWorker()
      .visit({ environment, task: name }, id, position)
      .then(
        (decision) => current && setShown({ decision }),
        (error) => current && setShown({ problem: describeFault(error) }),
      );
    return () => {
      current = false;
    };
  }, [environment, name, id, position]);
  const source = task.sources.find((each) => each.id === id);
  const cell = source?.cells[position];
  return (
    <section className="part pinned-visit" aria-labelledby="pinned-title">
      <h2 id="pinned-title">
        {source && <Mark success={source.success} />} {id}, visit {position}
        <button type="button" className="close" onClick={() => navigate({ visit: null })}>
          Unpin
        </button>
      </h2>
      {shown !== null && "problem" in shown && <p role="alert">{shown.problem}</p>}
      {cell && <p className="note">{describeState(task, cell)}</p>}
      {shown !== null && "decision" in shown && shown.decision === null && <p>The end of this execution.</p>}
      {shown !== null && "decision" in shown && shown.decision !== null && (
        <dl className="facts">
          <dt>saw</dt>
          <dd>
            <Folded text={shown.decision.observation} />
          </dd>
          <dt>did</dt>
          <dd>
            <code>{shown.decision.action ?? "no action"}</code>
            {shown.decision.binding !== null && ` (stood for: ${shown.decision.binding})`}
            {shown.decision.status !== "executed" && (
              <span className="status">{shown.decision.status.replace("_", " ")}</span>
            )}
          </dd>
          <dt>got</dt>
          <dd>
            <Folded text={shown.decision.feedback} />
          </dd>
          {shown.decision.attempts.length > 0 && (
            <>
              <dt>tried</dt>
              <dd>{shown.decision.attempts.length} attempts that were not committed</dd>
            </>
          )}
        </dl>
      )}
    </section>
  );
}
