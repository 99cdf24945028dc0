/** Whether other references move the response as the retained one does. */
import { useMemo } from "react";
import { countOf } from "../../../../core/plural.ts";
import { nats, shortToken } from "../../../base/format.ts";
import { Name } from "../../../base/text/name.tsx";
import { shownName } from "../../../base/text/shown-text.ts";
import { isDeviceBusy } from "../../../compute/computing.ts";
import { scoreKey } from "../../../compute/scoring/score.ts";
import { withEvidence, withoutEvidence } from "../../../compute/side.ts";
import { type TokenScores, useUi } from "../../../compute/store.ts";
import type { DecisionModel, TaskModel } from "../../../data/model.ts";
import { deltaLimit, themedDelta } from "../delta-colour.ts";
import { JobProgress } from "../job-progress.tsx";
import { type InUnits, sumOf, type TokenRange, unitOf } from "../units.ts";
import { bestReferences, MOST_REFERENCES, scoreReferences } from "./other-references.ts";

export function ReferencesPanel({
  task,
  decision,
  scores,
  units,
  token,
}: {
  task: TaskModel;
  decision: DecisionModel;
  scores: TokenScores;
  units: InUnits;
  token: number | null;
}) {
  const busy = useUi(isDeviceBusy);
  const eligible = useMemo(() => bestReferences(decision), [decision]);
  const whole = { from: 0, to: scores.ids.length };
  const at = token === null ? -1 : unitOf(units, token);
  const range: TokenRange = units.ranges[at] ?? whole;
  const vanilla = withoutEvidence(scores).logprobs;
  const graph = withEvidence(scores).logprobs;
  const delta = (logprobs: ArrayLike<number>, of: TokenRange): number =>
    sumOf(logprobs, of) - sumOf(vanilla, of);
  const retained = delta(graph, range);
  const references = scores.references ?? [];
  const agree = references.filter(
    ({ logprobs }) => Math.sign(delta(logprobs, range)) === Math.sign(retained),
  );
  const name = at < 0 ? "the whole response" : shortToken(units.texts[at]!);
  const rows = [
    { key: "", label: "the evidence as scored", action: null, logprobs: graph },
    ...references.map(({ source, position, rank, logprobs }) => ({
      key: source,
      label: `${rank}. ${shownName(source, 80)} at ${position}`,
      action: task.sources.find(({ id }) => id === source)?.cells[position]?.action ?? null,
      logprobs,
    })),
  ];
  const colours = [range, whole].map((of) =>
    themedDelta(deltaLimit(rows.map(({ logprobs }) => delta(logprobs, of)))),
  );
  return (
    <section className="panel" aria-labelledby="references-title" data-testid="references">
      <div className="panel-head">
        <h2 id="references-title">Do other references say the same?</h2>
      </div>
      <JobProgress job="references" at={scoreKey(decision)} />
      {references.length > 0 && (
        <p className="headline">
          <strong>
            {agree.length} of {countOf(references.length, "reference")}
          </strong>{" "}
          {agree.length === 1 ? "moves" : "move"} <code>{name}</code> the same way as the evidence does.
        </p>
      )}
      <div className="left-out-tools">
        <button type="button" disabled={busy || eligible.length === 0} onClick={() => void scoreReferences()}>
          Score the best {countOf(Math.max(1, eligible.length), "reference")}
        </button>
        <span className="note">
          {eligible.length === 0
            ? "No recorded execution has an eligible visit to this state."
            : `each in turn as the successful record, a pass of the teacher each; one visit per execution, ${MOST_REFERENCES} at most, by rank`}
        </span>
      </div>
      {references.length > 0 && (
        <div className="teacher-table">
          <table aria-label="Δ under other references">
            <thead>
              <tr>
                <th scope="col">successful record</th>
                <th scope="col">what it did here</th>
                <th scope="col" className="number">
                  Δ of <code>{name}</code>
                </th>
                <th scope="col" className="number">
                  Δ of the whole response
                </th>
              </tr>
            </thead>
            <tbody>
              {rows.map(({ key, label, action, logprobs }) => (
                <tr key={key}>
                  <th scope="row">
                    <Name>{label}</Name>
                  </th>
                  <td>{action === null ? "" : <code>{shownName(action)}</code>}</td>
                  {[range, whole].map((of, i) => (
                    // biome-ignore lint/suspicious/noArrayIndexKey: two columns
                    <td key={i} className="number">
                      <span className="swatch" style={{ backgroundColor: colours[i]!(delta(logprobs, of)) }}>
                        {nats(delta(logprobs, of), true)}
                      </span>
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
