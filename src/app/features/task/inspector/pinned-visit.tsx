/** A pinned visit (r, j): what that execution saw and did there. */
import { useEffect, useMemo, useState } from "react";
import { countOf } from "../../../../core/plural.ts";
import type { SourceDecision } from "../../../../core/record/schema.ts";
import { describeFault } from "../../../base/faults.ts";
import { Mark } from "../../../base/mark.tsx";
import { LongText } from "../../../base/text/long-text.tsx";
import { Name } from "../../../base/text/name.tsx";
import { shownName } from "../../../base/text/shown-text.ts";
import { useUi } from "../../../compute/store.ts";
import { visitName } from "../../../data/compared-visits.ts";
import { libraryWorker } from "../../../data/library-client.ts";
import type { DecisionModel, TaskModel } from "../../../data/model.ts";
import { navigate } from "../../../data/navigate.ts";
import { visitsOf } from "../../../data/state-graph/describe-node.ts";
import { toggleHighlight } from "../../../data/state-graph/highlights.ts";
import type { VisitRef } from "../../../url/place.ts";
import { CompareButton } from "../compare/compare-button.tsx";
import { describeState } from "../describe-cell.ts";
import { Folded } from "./decision-section.tsx";
import { PlayOnButton } from "./play-on-button.tsx";
import { SourceButton, TakeVisit } from "./what-if-buttons.tsx";

type Shown = { decision: SourceDecision | null } | { problem: string };

export function PinnedVisit({
  task,
  visit,
  decision,
}: {
  task: TaskModel;
  visit: VisitRef;
  /** Null where the task has none. */
  decision: DecisionModel | null;
}) {
  const [shown, setShown] = useState<Shown | null>(null);
  const { source: id, position } = visit;
  const { library, environment, task: name } = task;
  useEffect(() => {
    let current = true;
    libraryWorker()
      .tasks.visit({ library, environment, task: name }, id, position)
      .then(
        (decision) => current && setShown({ decision }),
        (error) => current && setShown({ problem: describeFault(error) }),
      );
    return () => {
      current = false;
    };
  }, [library, environment, name, id, position]);
  const highlighted = useUi((ui) => ui.place.highlights.includes(id));
  const source = task.sources.find((each) => each.id === id);
  const cell = source?.cells[position];
  return (
    <section className="part pinned-visit" aria-labelledby="pinned-title">
      <div className="part-head">
        <h2 id="pinned-title">
          {source && <Mark success={source.success} />}{" "}
          <span>
            <Name>{shownName(id)}</Name>, visit {position}
          </span>
        </h2>
        <CompareButton visit={{ kind: "source", id, position }} />
        {source && (
          <button type="button" aria-pressed={highlighted} onClick={() => toggleHighlight(id)}>
            {highlighted ? "Path highlighted" : "Highlight path"}
          </button>
        )}
        {source && position < source.decisions && (
          <PlayOnButton
            record={{ library, environment, task: name, kind: "source", id }}
            position={position}
          />
        )}
        <button type="button" onClick={() => navigate({ visit: null })}>
          Unpin
        </button>
      </div>
      {shown !== null && "problem" in shown && <p role="alert">{shown.problem}</p>}
      {cell && <p className="note">{describeState(task, cell)}</p>}
      {cell && cell.state !== null && <SameState task={task} state={cell.state} visit={visit} />}
      <div className="what-if-row">
        <SourceButton source={id} />
        {source && decision !== null && (
          <TakeVisit decision={decision} kind={source.success ? "success" : "failure"} visit={visit} />
        )}
      </div>
      {shown !== null && "decision" in shown && shown.decision === null && <p>The end of this execution.</p>}
      {shown !== null && "decision" in shown && shown.decision !== null && (
        <dl className="facts">
          <dt>saw</dt>
          <dd>
            <Folded text={shown.decision.observation} />
          </dd>
          <dt>did</dt>
          <dd>
            <code>
              <LongText text={shown.decision.action ?? "no action"} first={2000} />
            </code>
            {shown.decision.binding !== null && (
              <>
                {" "}
                (stood for: <LongText text={shown.decision.binding} first={2000} />)
              </>
            )}
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

/** All visits to the state of a pinned one: one press away. */
function SameState({ task, state, visit }: { task: TaskModel; state: number; visit: VisitRef }) {
  const visits = useMemo(() => visitsOf(task, state), [task, state]);
  if (visits.length < 2) return null;
  const executions = new Set(visits.map(({ source }) => source)).size;
  return (
    <details>
      <summary>
        All {countOf(visits.length, "visit")} to this state, by {countOf(executions, "execution")}
      </summary>
      <ul className="same-visits">
        {visits.map(({ source, position }) => {
          const here = source === visit.source && position === visit.position;
          return (
            <li key={`${source} ${position}`}>
              <button
                type="button"
                className="plain link"
                data-visit={visitName({ kind: "source", id: source, position })}
                aria-current={here || undefined}
                onClick={() => navigate({ visit: { source, position } })}
              >
                <Name>{shownName(source, 60)}</Name> @ {position}
              </button>
            </li>
          );
        })}
      </ul>
    </details>
  );
}
