/** Leave-one-out: which part of the evidence moved the selected token, and each of the others. */

import { useEffect, useRef } from "react";
import { countOf } from "../../../../core/plural.ts";
import { nats, shortToken } from "../../../base/format.ts";
import { isDeviceBusy } from "../../../compute/computing.ts";
import { scoreKey } from "../../../compute/scoring/score.ts";
import { evidenceDeltas, teacherOf, withEvidence } from "../../../compute/side.ts";
import { type TokenScores, useUi } from "../../../compute/store.ts";
import type { DecisionModel, TaskModel } from "../../../data/model.ts";
import { navigate } from "../../../data/navigate.ts";
import { partName, samePart } from "../../../url/part-name.ts";
import { MovedTokens } from "../changes/moved-tokens.tsx";
import { JobProgress } from "../job-progress.tsx";
import { type InUnits, rangeName, sumOf, type TokenRange, unitOf } from "../units.ts";
import { EffectMap } from "./effect-map.tsx";
import { EvidenceBars, evidenceParts, percentOf } from "./evidence-bars.tsx";
import { recordsWithEvents, scoreLeftOut, scorePointed } from "./leave-out.ts";
import { explains, type LeftOutRow, leftOutRows, passesOf } from "./left-out-rows.ts";
import { LeftOutTable } from "./left-out-table.tsx";

/** How many records and events the evidence has that can be left out. */
function partsOf({ evidence }: DecisionModel): { records: number; events: number } {
  const records = new Set(evidence.spans.map(({ kind, part }) => (part === "note" ? "note" : kind)));
  return { records: records.size, events: evidence.spans.filter(({ part }) => part === "event").length };
}

export function LeftOutPanel({
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
  // The part that is marked in the evidence is the one whose tokens are shown here.
  const chosen = useUi((ui) => ui.place.part);
  const busy = useUi(isDeviceBusy);
  const range = token === null ? null : units.ranges[unitOf(units, token)]!;
  const parts = partsOf(decision);
  const records = leftOutRows(scores, null, range);
  const events = leftOutRows(scores, "all", range);
  const rows = [...records, ...events];
  const shown = rows.find(({ result }) => chosen !== null && samePart(result.part, chosen));
  const all = range ?? { from: 0, to: scores.ids.length };
  const delta = sumOf(evidenceDeltas(scores), all);
  const tables = {
    task,
    decision,
    scores,
    range,
    chosen,
    onChoose: (part: typeof chosen) => navigate({ part }),
  };
  const tokens = withEvidence(scores).promptIds!.length + scores.ids.length;
  // Events say more than the records that they are of.
  const [told, ofAll, what] =
    events.length > 0 || records.length === 0
      ? ([events, parts.events, "event"] as const)
      : ([records, parts.records, "record"] as const);
  // A key asks for it from anywhere in the view.
  const tools = useRef<HTMLDivElement>(null);
  const atWork = useUi(
    ({ scoring }) =>
      (scoring.status === "running" || scoring.status === "cancelling") &&
      scoring.job === "left-out" &&
      scoring.key === scoreKey(decision),
  );
  useEffect(() => {
    if (atWork) tools.current?.scrollIntoView({ block: "nearest" });
  }, [atWork]);
  // All that the figures will take, from the first on: nothing below moves as they come.
  const isShown = rows.length > 0 || atWork;
  return (
    <section className="panel left-out" aria-labelledby="left-out-title" data-testid="left-out">
      <div className="panel-head">
        <h2 id="left-out-title">Which part of the evidence moved it</h2>
      </div>
      <Headline
        rows={told}
        asked={told.length < ofAll ? countOf(told.length, what) : null}
        range={range}
        delta={delta}
        text={range === null ? "the whole response" : shortToken(units.texts[unitOf(units, token!)]!)}
      />
      {chosen !== null && shown === undefined && (
        <div className="left-out-tools" data-testid="pointed-part">
          <button type="button" disabled={busy} onClick={() => void scorePointed()}>
            Leave out {partName(chosen)} <span className="key">o</span>
          </button>
          <span className="note">
            the part that is marked in the evidence: one pass of the teacher{" "}
            <button type="button" onClick={() => navigate({ part: null })}>
              Unmark
            </button>
          </span>
        </div>
      )}
      <div ref={tools} className="left-out-tools">
        <button
          type="button"
          className={events.length === 0 ? "primary" : ""}
          disabled={busy || events.length === parts.events}
          onClick={() => void scoreLeftOut("all events")}
        >
          Leave out each event <span className="key">O</span>
        </button>
        <button
          type="button"
          disabled={busy || records.length === parts.records}
          onClick={() => void scoreLeftOut(null)}
        >
          Leave out each record
        </button>
        {recordsWithEvents(decision).length > 1 &&
          recordsWithEvents(decision).map((record) => (
            <button
              key={record}
              type="button"
              disabled={busy || events.length === parts.events}
              onClick={() => void scoreLeftOut(record)}
            >
              Events of {partName({ record, event: null })}
            </button>
          ))}
        <JobProgress job="left-out" at={scoreKey(decision)} />
        {!atWork && (
          <span className="note">
            {decision.selection.text !== undefined
              ? "The evidence was edited by hand: it has no recorded parts to leave out."
              : `${events.length} of ${countOf(parts.events, "event")} and ${records.length} of ${countOf(parts.records, "record")} left out; each is a pass of the teacher over at most ${tokens.toLocaleString("en")} tokens`}
          </span>
        )}
      </div>
      {isShown && (
        <EvidenceBars decision={decision} rows={rows} range={range} delta={delta} chosen={chosen} />
      )}
      {isShown && (
        <EffectMap
          parts={evidenceParts(decision).filter(({ event }) => (event !== null) === (what === "event"))}
          rows={told}
          units={units}
          token={token}
          chosen={chosen}
        />
      )}
      {shown !== undefined && <MovedTokens scores={scores} row={shown} token={token} />}
      {isShown && (
        <details className="left-out-figures">
          <summary>In figures</summary>
          {records.length > 0 && <LeftOutTable label="Records left out" rows={records} {...tables} />}
          {events.length > 0 && <LeftOutTable label="Events left out" rows={events} {...tables} />}
        </details>
      )}
      {isShown && <Facts scores={scores} decision={decision} />}
    </section>
  );
}

/** Which part explains the change of the selected tokens, in one line. */
function Headline({
  rows,
  asked,
  range,
  delta,
  text,
}: {
  rows: readonly LeftOutRow[];
  /** What was left out so far; null where that is all there is. */
  asked: string | null;
  range: TokenRange | null;
  delta: number;
  text: string;
}) {
  const best = explains(rows, range, delta);
  const it = (
    <>
      {range === null ? text : <code>{text}</code>}
      {range !== null && ` (${rangeName(range)})`}
    </>
  );
  return (
    <p className="headline" data-testid="left-out-headline">
      {rows.length === 0 ? (
        <>
          The evidence moves {it} by {nats(delta, true)} nats. Leave out each event to see which one does it.
        </>
      ) : best === null ? (
        <>
          {asked === null ? "No single part explains" : `${asked} left out so far: none explains`} {it}. All
          of the evidence moves it by {nats(delta, true)} nats.
        </>
      ) : (
        <>
          <strong>
            {upper(partName(best.part))} explains {percentOf(best.share)} of it:
          </strong>{" "}
          {nats(best.effect, true)} of Δ {nats(delta, true)} nats on {it}.
        </>
      )}
    </p>
  );
}

const upper = (words: string): string => `${words[0]!.toUpperCase()}${words.slice(1)}`;

function Facts({ scores, decision }: { scores: TokenScores; decision: DecisionModel }) {
  const { passes, tokens, seconds } = passesOf(scores);
  const { model, dtype, adapter } = teacherOf(scores);
  const otherForm = scores.leftOut.filter(
    ({ backReferences }) => backReferences !== decision.evidence.backReferences,
  );
  return (
    <p className="note left-out-facts" data-testid="left-out-facts">
      {passes === 1 ? "1 pass" : `${passes} passes`} computed with {model} ({dtype}, {adapter}) over{" "}
      {tokens.toLocaleString("en")} tokens, {seconds.toFixed(1)} s, on the same {scores.ids.length} response
      ids.{" "}
      {passes < scores.leftOut.length &&
        "Without its only record no evidence is left: that is the pass without evidence, made before. "}
      Each figure is log p with all of the evidence − log p without the part. Nothing is retrieved in its
      place, and the figures of several parts need not add up to Δ.
      {otherForm.length > 0 &&
        ` Without ${otherForm.map(({ part }) => partName(part)).join(", ")} the evidence fits its limit in plain text, where all of it has back-references: that figure is of the form too.`}
    </p>
  );
}
