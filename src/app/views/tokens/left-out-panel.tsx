/** Leave-one-out: which part of the evidence moved this token, and the whole response. */
import { useState } from "react";
import type { EvidencePart } from "../../../core/evidence/index.ts";
import type { DecisionModel, TaskModel } from "../../model.ts";
import { navigate } from "../../place/navigate.ts";
import { partName } from "../../place/part-name.ts";
import { samePart, scoreLeftOut, scorePointed } from "../../session/leave-out.ts";
import { scoreKey } from "../../session/score.ts";
import { countOf } from "../../shell/plural.ts";
import { isModelAtWork } from "../../state/computing.ts";
import { type TokenScores, useUi } from "../../state/store.ts";
import { nats, shortToken } from "./format.ts";
import { leftOutRows, passesOf } from "./left-out-rows.ts";
import { LeftOutTable } from "./left-out-table.tsx";
import { MovedTokens } from "./moved-tokens.tsx";
import { ScoringProgress } from "./scoring-panel.tsx";

/** What the evidence has: the records, and how many events each. */
function recordsOf({ evidence }: DecisionModel): Map<EvidencePart["record"], number> {
  const records = new Map<EvidencePart["record"], number>();
  for (const { kind, part } of evidence.spans) {
    const record = part === "note" ? "note" : kind;
    records.set(record, (records.get(record) ?? 0) + (part === "event" ? 1 : 0));
  }
  return records;
}

export function LeftOutPanel({
  task,
  decision,
  scores,
  token,
}: {
  task: TaskModel;
  decision: DecisionModel;
  scores: TokenScores;
  token: number | null;
}) {
  // The part that is marked in the evidence is the one whose tokens are shown here.
  const chosen = useUi((ui) => ui.place.part);
  const [eventsOf, setEventsOf] = useState<EvidencePart["record"] | null>(
    chosen === null || chosen.event === null ? null : chosen.record,
  );
  const scoring = useUi((ui) => ui.scoring);
  const busy = useUi(isModelAtWork);
  const records = recordsOf(decision);
  const rows = leftOutRows(scores, null, token);
  const events = eventsOf === null ? [] : leftOutRows(scores, eventsOf, token);
  const shown = [...rows, ...events].find(({ result }) => chosen !== null && samePart(result.part, chosen));
  const { passes, tokens, seconds } = passesOf(scores);
  const most = scores.graphContext + scores.ids.length;
  const failed =
    scoring.status === "failed" && scoring.job === "left-out" && scoring.key === scoreKey(decision);
  const otherForm = scores.leftOut.filter(
    ({ backReferences }) => backReferences !== decision.evidence.backReferences,
  );
  const choose = (part: EvidencePart | null): void => navigate({ part });
  const tables = { task, decision, scores, token, chosen, onChoose: choose };
  return (
    <section className="panel left-out" aria-labelledby="left-out-title" data-testid="left-out">
      <div className="panel-head">
        <h2 id="left-out-title">Which part of the evidence moved it</h2>
        <span className="note">
          {token === null ? (
            "the whole response: pick a token to see the parts that moved that one"
          ) : (
            <>
              token {token} <code>{shortToken(scores.pieces[token]!)}</code>: Δ{" "}
              {nats(scores.graph[token]! - scores.vanilla[token]!, true)} with all of the evidence
            </>
          )}
        </span>
      </div>
      {busy && scoring.status !== "idle" && scoring.key === scoreKey(decision) && (
        <ScoringProgress job="left-out" />
      )}
      {failed && (
        <p className="fault" role="alert">
          {scoring.message}
        </p>
      )}
      {chosen !== null && shown === undefined && (
        <div className="left-out-tools" data-testid="pointed-part">
          <button type="button" disabled={busy} onClick={() => void scorePointed()}>
            Leave out {partName(chosen)}
          </button>
          <span className="note">
            the part that is marked in the evidence: one pass of the teacher{" "}
            <button type="button" onClick={() => choose(null)}>
              Unmark
            </button>
          </span>
        </div>
      )}
      <div className="left-out-tools">
        <button
          type="button"
          disabled={busy || rows.length === records.size}
          onClick={() => void scoreLeftOut(null)}
        >
          Leave out each record
        </button>
        <span className="note">
          {decision.selection.text !== undefined
            ? "The evidence was edited by hand: it has no recorded parts to leave out."
            : rows.length === records.size
              ? "Each record was left out."
              : `${countOf(records.size - rows.length, "record")} to leave out, each a pass of the teacher over at most ${most.toLocaleString("en")} tokens`}
        </span>
      </div>
      {rows.length > 0 && <LeftOutTable label="Records left out" rows={rows} {...tables} />}
      {rows.length > 0 && (
        <div className="left-out-tools">
          <label>
            One event at a time of{" "}
            <select
              value={eventsOf ?? ""}
              onChange={(event) => {
                const record = [...records.keys()].find((each) => each === event.target.value);
                setEventsOf(record ?? null);
              }}
            >
              <option value="">no record</option>
              {[...records].map(
                ([record, count]) =>
                  count > 0 && (
                    <option key={record} value={record}>
                      {partName({ record, event: null })} ({countOf(count, "event")})
                    </option>
                  ),
              )}
            </select>
          </label>
          {eventsOf !== null && (
            <button
              type="button"
              disabled={busy || events.length === records.get(eventsOf)}
              onClick={() => void scoreLeftOut(eventsOf)}
            >
              Leave out each of its events
            </button>
          )}
          {eventsOf !== null && (
            <span className="note">
              {events.length} of {countOf(records.get(eventsOf) ?? 0, "event")} left out, a pass each
            </span>
          )}
        </div>
      )}
      {events.length > 0 && <LeftOutTable label="Events left out" rows={events} {...tables} />}
      {shown !== undefined && <MovedTokens scores={scores} row={shown} token={token} />}
      {scores.leftOut.length > 0 && (
        <p className="note left-out-facts" data-testid="left-out-facts">
          {passes === 1 ? "1 pass" : `${passes} passes`} computed with {scores.teacher.model} (
          {scores.teacher.dtype}, {scores.teacher.adapter}) over {tokens.toLocaleString("en")} tokens,{" "}
          {seconds.toFixed(1)} s, on the same {scores.ids.length} response ids.{" "}
          {passes < scores.leftOut.length &&
            "Without its only record no evidence is left: that is the pass without evidence, made before. "}
          A change is log p without the part − log p with all of the evidence; nothing is retrieved in its
          place, and changes of several parts need not add up.
          {otherForm.length > 0 &&
            ` Without ${otherForm.map(({ part }) => partName(part)).join(", ")} the evidence fits its limit in plain text, where all of it has back-references: that change is of the form too.`}
        </p>
      )}
    </section>
  );
}
