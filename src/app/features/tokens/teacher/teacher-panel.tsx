/** What the teacher would do in the student's place, without and with the evidence. */

import { LongText } from "../../../base/text/long-text.tsx";
import { shownName } from "../../../base/text/shown-text.ts";
import { isDeviceBusy } from "../../../compute/computing.ts";
import { scoreKey } from "../../../compute/scoring/score.ts";
import { type TeacherAction, type TokenScores, useUi } from "../../../compute/store.ts";
import type { DecisionModel } from "../../../data/model.ts";
import { JobProgress } from "../job-progress.tsx";
import { askTeacher, DRAWN } from "./teacher-actions.ts";

export function TeacherPanel({ decision, scores }: { decision: DecisionModel; scores: TokenScores }) {
  const busy = useUi(isDeviceBusy);
  const actions = scores.teacherActions ?? [];
  const of = (context: TeacherAction["context"], seed: number | null) =>
    actions.find((each) => each.context === context && each.seed === seed) ?? null;
  const drawn = (context: TeacherAction["context"]) =>
    actions.filter((each) => each.context === context && each.seed !== null);
  const same = (context: TeacherAction["context"]): number =>
    drawn(context).filter(({ action }) => action === decision.action).length;
  return (
    <section className="panel" aria-labelledby="teacher-title" data-testid="teacher-actions">
      <div className="panel-head">
        <h2 id="teacher-title">What would the teacher do instead?</h2>
      </div>
      <JobProgress job="actions" at={scoreKey(decision)} />
      <div className="left-out-tools">
        <button type="button" disabled={busy} onClick={() => void askTeacher()}>
          Ask the teacher{actions.length > 0 && " again"}
        </button>
        <span className="note">
          {actions.length === 0
            ? `one greedy and ${DRAWN} drawn responses under each context`
            : `Drawn at temperature 1, from the contexts that were scored. The student’s action: ${same("vanilla")} of ${drawn("vanilla").length} drawn without evidence, ${same("graph")} of ${drawn("graph").length} with it.`}
        </span>
      </div>
      {actions.length > 0 && (
        <div className="teacher-table">
          <table aria-label="Actions of the teacher">
            <thead>
              <tr>
                <th scope="col">response</th>
                <th scope="col">without evidence</th>
                <th scope="col">with evidence</th>
              </tr>
            </thead>
            <tbody>
              <tr>
                <th scope="row">the student</th>
                <td colSpan={2}>
                  <Action action={decision.action} />
                </td>
              </tr>
              {Array.from({ length: 1 + DRAWN }, (_, i) => (i === 0 ? null : i)).map((seed) => (
                <tr key={seed}>
                  <th scope="row">{seed === null ? "greedy" : `drawn ${seed}`}</th>
                  {(["vanilla", "graph"] as const).map((context) => (
                    <td key={context}>
                      <Written written={of(context, seed)} student={decision.action} />
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}

function Action({ action }: { action: string | null }) {
  if (action === null) return <span className="note">no action (malformed response)</span>;
  return (
    <bdi>
      <code>{shownName(action) || "(blank)"}</code>
    </bdi>
  );
}

function Written({ written, student }: { written: TeacherAction | null; student: string | null }) {
  if (written === null) return "–";
  return (
    <details>
      <summary>
        <Action action={written.action} />{" "}
        {written.action === student && <span className="note">as the student</span>}
      </summary>
      <pre className="text">
        <LongText text={written.response} first={2000} />
      </pre>
    </details>
  );
}
