/** Two visits side by side: what was seen, done and answered, and what differs between their states. */
import { useEffect, useRef, useState } from "react";
import type { StateChange } from "../../../../core/environment/state-change.ts";
import { describeFault } from "../../../base/faults.ts";
import { Mark } from "../../../base/mark.tsx";
import { Scroller } from "../../../base/scroller.tsx";
import { LongText } from "../../../base/text/long-text.tsx";
import { Name } from "../../../base/text/name.tsx";
import { beginning, shownName, shownText } from "../../../base/text/shown-text.ts";
import { useUi } from "../../../compute/store.ts";
import type { TextDifference } from "../../../data/library/text-difference.ts";
import { libraryWorker } from "../../../data/library-client.ts";
import type { TaskModel, VisitComparison, VisitSide } from "../../../data/model.ts";
import { navigate } from "../../../data/navigate.ts";

type Shown = { comparison: VisitComparison } | { problem: string };

const close = (): void => navigate({ compared: [] });

export function CompareDialog({ task }: { task: TaskModel }) {
  const [left, right] = useUi((ui) => ui.place.compared);
  const dialog = useRef<HTMLDialogElement>(null);
  const [shown, setShown] = useState<Shown | null>(null);
  const { library, environment, task: name } = task;
  useEffect(() => {
    setShown(null);
    if (left === undefined || right === undefined) {
      if (dialog.current?.open) dialog.current.close();
      return;
    }
    if (!dialog.current?.open) dialog.current?.showModal();
    let current = true;
    libraryWorker()
      .tasks.compare({ library, environment, task: name }, [left, right])
      .then(
        (comparison) => current && setShown({ comparison }),
        (error) => current && setShown({ problem: describeFault(error) }),
      );
    return () => {
      current = false;
    };
  }, [library, environment, name, left, right]);
  return (
    <dialog
      ref={dialog}
      className="help two-visits"
      aria-labelledby="compare-title"
      data-dialog="compare"
      onClose={() => {
        if (right !== undefined) close();
      }}
    >
      <header>
        <h2 id="compare-title">Two visits</h2>
        <span>
          {right !== undefined && left !== undefined && (
            <button type="button" onClick={() => navigate({ compared: [right, left] })}>
              Swap
            </button>
          )}{" "}
          <button type="button" onClick={close}>
            Close <kbd>Esc</kbd>
          </button>
        </span>
      </header>
      {shown === null && <p className="nothing">Reading the two visits…</p>}
      {shown !== null && "problem" in shown && (
        <p className="nothing" role="alert">
          {shown.problem}
        </p>
      )}
      {shown !== null && "comparison" in shown && <Comparison comparison={shown.comparison} />}
    </dialog>
  );
}

function Comparison({ comparison }: { comparison: VisitComparison }) {
  const { sides, observation, feedback, state } = comparison;
  const [left, right] = sides;
  return (
    <Scroller className="comparison" label="Two visits, side by side">
      <section className="compared-state" aria-labelledby="compared-state">
        <h3 id="compared-state">
          State{" "}
          <span className={`case${state.same ? " matched_success" : ""}`} data-testid="same-state">
            {state.same === null ? "not known" : state.same ? "the same" : "different"}
          </span>
        </h3>
        {state.limit !== null && <p className="note">{state.limit}</p>}
        {state.changes.length > 0 && <Changes changes={state.changes} />}
      </section>
      <div className="two-sides">
        {sides.map((side, i) => (
          <SideHead key={i === 0 ? "left" : "right"} side={side} />
        ))}
        <Row title="saw" difference={observation} />
        <Facts title="did" left={didText(left)} right={didText(right)} />
        {(left.feedback !== null || right.feedback !== null) && <Row title="got" difference={feedback} />}
        <Facts title="state key" left={left.key ?? "⊥"} right={right.key ?? "⊥"} />
      </div>
    </Scroller>
  );
}

function SideHead({ side }: { side: VisitSide }) {
  return (
    <h3 className="side-head">
      <Mark success={side.success} />{" "}
      <span title={shownName(side.id)}>
        {side.kind === "episode" ? "student " : ""}
        <Name>{shownName(side.id, 60)}</Name>
      </span>
      , visit {side.position} <span className="muted">of 0…{side.decisions}</span>
    </h3>
  );
}

function didText({ action, binding, status, attempts, gapBefore }: VisitSide): string {
  if (status === "terminal") return "the end";
  const parts = [action === null ? "no action" : action || "(blank)"];
  if (binding !== null) parts.push(`stood for: ${binding}`);
  if (status !== "executed") parts.push(status.replace("_", " "));
  if (attempts > 0) parts.push(`${attempts} tries not committed`);
  if (gapBefore) parts.push("recording gap before");
  return parts.join(" · ");
}

function Facts({ title, left, right }: { title: string; left: string; right: string }) {
  return (
    <>
      {[left, right].map((text, i) => (
        <div key={i === 0 ? "left" : "right"} className={`side${left === right ? "" : " differs"}`}>
          <span className="caption">{title}</span>
          <code>
            <LongText text={text} first={2000} />
          </code>
        </div>
      ))}
    </>
  );
}

/** So many pieces of one text are drawn at first. */
const MOST_PIECES = 400;
/** And so many characters of each. */
const MOST_OF_PIECE = 5000;

function Row({ title, difference }: { title: string; difference: TextDifference }) {
  const [all, setAll] = useState(false);
  const { pieces, by } = difference;
  const same = pieces.every((piece) => piece.in === "both");
  return (
    <>
      {(["left", "right"] as const).map((side) => {
        const own = pieces.filter((piece) => piece.in === "both" || piece.in === side);
        const drawn = all ? own : own.slice(0, MOST_PIECES);
        return (
          <div key={side} className={`side${same ? "" : " differs"}`}>
            <span className="caption">
              {title}
              {same ? ", the same" : by === "nothing" ? ", too different to line up" : ""}
            </span>
            <pre>
              {drawn.map((piece, i) => {
                const Tag = piece.in === "both" ? "span" : piece.in === "left" ? "del" : "ins";
                return (
                  // biome-ignore lint/suspicious/noArrayIndexKey: the pieces have no other name
                  <Tag key={i}>
                    <LongText text={piece.text} first={MOST_OF_PIECE} />
                  </Tag>
                );
              })}
            </pre>
            {drawn.length < own.length && (
              <button type="button" onClick={() => setAll(true)}>
                Show all {own.length.toLocaleString("en")} pieces
              </button>
            )}
          </div>
        );
      })}
    </>
  );
}

const WORDS: Record<StateChange["kind"], string> = {
  added: "only right",
  removed: "only left",
  changed: "changed",
  moved: "moved",
};

/** So many rows are drawn at first. */
const MOST_CHANGES = 200;

function Changes({ changes }: { changes: readonly StateChange[] }) {
  const [all, setAll] = useState(false);
  const rows = all ? changes : changes.slice(0, MOST_CHANGES);
  const value = (text: string | null) =>
    text === null ? <span className="muted">–</span> : <bdi>{shownText(beginning(text, 2000))}</bdi>;
  return (
    <>
      <table className="small state-changes">
        <thead>
          <tr>
            <th scope="col">where</th>
            <th scope="col">what</th>
            <th scope="col">left</th>
            <th scope="col">right</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((change, i) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: two changes may read alike
            <tr key={i}>
              <th scope="row">
                <bdi>{shownName(change.at.join(" › "))}</bdi>
              </th>
              <td>{WORDS[change.kind]}</td>
              <td>{value(change.left)}</td>
              <td>{value(change.right)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length < changes.length && (
        <button type="button" onClick={() => setAll(true)}>
          Show all {changes.length.toLocaleString("en")} differences
        </button>
      )}
    </>
  );
}
