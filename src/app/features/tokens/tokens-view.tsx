/** One response, one teacher, two contexts: what the evidence does to each token. */
import { useMemo } from "react";
import { countOf } from "../../../core/plural.ts";
import { nats } from "../../base/format.ts";
import { WithRail } from "../../base/rail.tsx";
import { LongText } from "../../base/text/long-text.tsx";
import { isDeviceBusy } from "../../compute/computing.ts";
import { EndOfTurnSwitch } from "../../compute/models/end-of-turn-switch.tsx";
import { MemoryNote, useMemoryFacts } from "../../compute/models/memory-note.tsx";
import { ModelPickers } from "../../compute/models/model-pickers.tsx";
import { Provenance, sideFacts } from "../../compute/models/provenance.tsx";
import { NeedsEpisode, NeedsTask, ViewProblem } from "../../compute/open/needs-task.tsx";
import { StepBar } from "../../compute/open/step-bar.tsx";
import { scoreDecision, scoreKey, teacherReads } from "../../compute/scoring/score.ts";
import { type Side, sideOf, withEvidence, withoutEvidence } from "../../compute/side.ts";
import { type TokenScores, useUi } from "../../compute/store.ts";
import type { DecisionModel } from "../../data/model.ts";
import { evidenceWords } from "../../url/what-if.ts";
import { LeftOutPanel } from "./attribution/left-out-panel.tsx";
import { CaseDialog, decisionFileName } from "./case/case-dialog.tsx";
import { setCaseOpen } from "./case/case-open.ts";
import { ChangesPanel } from "./changes/changes-panel.tsx";
import { CompareBar } from "./compare-bar.tsx";
import { type Compared, compareSides, pictureCaption } from "./comparison.ts";
import { deltaLimit } from "./delta-colour.ts";
import { Largest } from "./plots/largest.tsx";
import { CumulativePlot, LogProbabilityPlot } from "./plots/position-plots.tsx";
import { ScatterPlot } from "./plots/scatter-plot.tsx";
import { usePreferences } from "./preferences.ts";
import { RecordedPanel } from "./recorded-panel.tsx";
import { DecisionProgress, ScoringPanel } from "./scoring-panel.tsx";
import { flips, SIGNAL_TITLES, tokenSignal } from "./signal.ts";
import { SignalBar } from "./signal-bar.tsx";
import { ReferencesPanel } from "./teacher/references-panel.tsx";
import { TeacherPanel } from "./teacher/teacher-panel.tsx";
import { TokenCard } from "./token-card.tsx";
import { TokenStrip } from "./token-strip.tsx";
import { TokenTable } from "./token-table.tsx";
import { AskDistribution } from "./top-tables.tsx";
import { UnitBar } from "./unit-bar.tsx";
import { type InUnits, inUnits, mostMoved, unitOf } from "./units.ts";

export function TokensView() {
  const task = useUi((ui) => ui.task);
  const decision = useUi((ui) => ui.decision);
  const problem = useUi((ui) => ui.viewProblem);
  const place = useUi((ui) => ui.place);
  const scores = useUi((ui) => (decision === null ? undefined : ui.scores[scoreKey(decision)]));
  const unit = usePreferences((state) => state.unit);
  const recorded = decision?.recorded ?? null;
  const compared = useMemo(
    () => (scores === undefined ? null : compareSides(scores, recorded, place.compare)),
    [scores, recorded, place.compare],
  );
  const units = useMemo(
    () => (scores === undefined || compared === null ? null : inUnits(scores.pieces, compared, unit)),
    [scores, compared, unit],
  );
  if (task === null) return <NeedsTask />;
  if (task.episodes.length === 0) return <NeedsEpisode />;
  // What was chosen stays; else the token that moved most is the one to look at.
  const token = units === null ? null : (place.token ?? mostMoved(units));
  const there = scores !== undefined && token !== null && token < scores.ids.length ? token : null;
  return (
    <div className="tokens-view">
      <StepBar task={task} />
      {problem !== null ? (
        <ViewProblem text={problem} />
      ) : (
        <WithRail view="tokens" controls={<Controls compared={compared} />}>
          <section className="panel" aria-labelledby="tokens-title">
            <div className="panel-head">
              <h2 id="tokens-title">The same response under two contexts</h2>
              <DecisionProgress />
              {scores !== undefined && <ScoredTools />}
            </div>
            <Notes />
            <ScoringPanel scored={scores !== undefined} />
            {scores === undefined || compared === null || units === null ? (
              <Unscored />
            ) : (
              <Scored scores={scores} compared={compared} units={units} token={there} />
            )}
          </section>
          {scores !== undefined && token !== null && there === null && (
            <p className="panel nothing" role="alert">
              The response has no token {token}: they go from 0 to {scores.pieces.length - 1}.
            </p>
          )}
          {decision !== null && scores !== undefined && units !== null && (
            <>
              <LeftOutPanel task={task} decision={decision} scores={scores} units={units} token={there} />
              <TeacherPanel decision={decision} scores={scores} />
              <ReferencesPanel task={task} decision={decision} scores={scores} units={units} token={there} />
            </>
          )}
          {scores !== undefined && compared !== null && units !== null && (
            <Details scores={scores} compared={compared} units={units} token={there} decision={decision!} />
          )}
          {decision !== null && scores !== undefined && compared !== null && (
            <CaseDialog
              decision={decision}
              scores={scores}
              compared={compared}
              evidence={evidenceWords(place)}
            />
          )}
          <ChangesPanel task={task} />
          {decision !== null && decision.recorded !== null && (
            <RecordedPanel recorded={decision.recorded} pinned={there} />
          )}
        </WithRail>
      )}
    </div>
  );
}

/** What to know before the figures are read. */
function Notes() {
  const note = useUi((ui) => ui.decision?.countsNote ?? null);
  const leftOut = useStudentProblem();
  return (
    <>
      {leftOut !== null && (
        <p className="note panel-note" role="status" data-testid="model-problem">
          The student is left out: {leftOut}.
        </p>
      )}
      {note !== null && (
        <p className="note panel-note" data-testid="counts-note">
          {note}
        </p>
      )}
    </>
  );
}

/** Why the student is not scored, in one line; null where it is. */
function useStudentProblem(): string | null {
  const fit = useUi((ui) => ui.tokenizerFit.scoring);
  const scored = useUi(({ decision, scores }) =>
    decision === null ? undefined : scores[scoreKey(decision)]?.studentProblem,
  );
  return scored ?? fit;
}

function ScoredTools() {
  const computing = useUi(isDeviceBusy);
  return (
    <div className="scored-tools">
      <button type="button" disabled={computing} onClick={() => void scoreDecision()}>
        Score again <span className="key">s</span>
      </button>
      <button type="button" onClick={() => setCaseOpen(true)}>
        Case study <span className="key">c</span>
      </button>
    </div>
  );
}

function Unscored() {
  const decision = useUi((ui) => ui.decision);
  const leftOut = useStudentProblem();
  const counts = decision?.counts;
  return (
    <div className="unscored">
      <p className="note">
        {counts
          ? `With evidence, the teacher reads ${teacherReads(counts)}${leftOut === null ? `; the student reads the ${counts.vanilla.toLocaleString("en")}` : ""}.`
          : (decision?.countsProblem ?? "")}
      </p>
      {decision?.response != null && (
        <pre className="text" data-testid="response">
          <LongText text={decision.response} />
        </pre>
      )}
    </div>
  );
}

function Controls({ compared }: { compared: Compared | null }) {
  const signal = useUi((ui) => ui.place.signal);
  return (
    <>
      <h3>Models</h3>
      <ModelPickers />
      <h3>Scoring</h3>
      <EndOfTurnSwitch />
      <MemoryNote workload="score" />
      {compared !== null && (
        <>
          <h3>Contexts</h3>
          <CompareBar compared={compared} />
          <h3>Colour</h3>
          <SignalBar signal={signal} />
          <h3>Tokens as</h3>
          <UnitBar />
        </>
      )}
    </>
  );
}

function Scored({
  scores,
  compared,
  units,
  token,
}: {
  scores: TokenScores;
  compared: Compared;
  units: InUnits;
  token: number | null;
}) {
  const chosen = useUi((ui) => ui.place.signal);
  const { base, side, deltas, columns, refused } = compared;
  const tokens = scores.ids.length;
  const shown = units.compared;
  const { length } = units.ranges;
  const signal = useMemo(
    () => tokenSignal(chosen, shown, length, units.unit !== "pieces"),
    [chosen, shown, length, units.unit],
  );
  const flipped = useMemo(() => flips(shown, length), [shown, length]);
  const sum = (values: ArrayLike<number>): string =>
    nats(Array.from(values).reduce((total, value) => total + value, 0));
  return (
    <div className="scored">
      {refused !== null && (
        <p className="fault" role="alert" data-testid="no-delta">
          No Δ: {refused}.
        </p>
      )}
      <TokenStrip
        units={units}
        signal={signal}
        limit={shown.deltas === null ? 1 : deltaLimit(shown.deltas)}
        flipped={flipped}
        token={token}
      />
      {signal.missing !== null && !(chosen === "delta" && refused !== null) && (
        <p className="note" data-testid="no-signal">
          No {SIGNAL_TITLES[chosen]}: {signal.missing}.
        </p>
      )}
      {signal.missing !== null && (chosen === "rank" || chosen === "entropy") && (
        <AskDistribution compared={compared} />
      )}
      <div className="strip-legend note">
        {signal.ramp !== null && (
          <span className="ramp">
            {signal.ramp.low}
            <span
              className="ramp-bar"
              aria-hidden="true"
              style={{ background: `linear-gradient(to right, ${signal.ramp.colours.join(", ")})` }}
            />
            {signal.ramp.high}
          </span>
        )}
        <span data-testid="signal-legend">
          {signal.legend !== "" && `${signal.legend} · `}
          {deltas !== null && "underline ∝ |Δ| · "}
          {flipped !== null &&
            `▾ most probable token flips (${flipped.filter(Boolean).length} of ${tokens}) · `}
          ␣ space ↵ line end
        </span>
        <span data-testid="sums">
          whole response ({tokens} tokens):{" "}
          {[base, side]
            .filter((each) => columns.includes(each))
            .map(({ label, logprobs }) => `log p ${sum(logprobs)} ${label}`)
            .join(", ")}
          {deltas !== null && (
            <>
              , Δ{" "}
              <strong>
                {nats(
                  deltas.reduce((total, value) => total + value, 0),
                  true,
                )}
              </strong>
            </>
          )}
        </span>
      </div>
      {token === null ? (
        <p className="note hint">Select a token to see it under every context.</p>
      ) : (
        <TokenCard scores={scores} compared={compared} units={units} token={token} />
      )}
    </div>
  );
}

function Details({
  scores,
  compared,
  units,
  token,
  decision,
}: {
  scores: TokenScores;
  compared: Compared;
  units: InUnits;
  token: number | null;
  decision: DecisionModel;
}) {
  const memoryFacts = useMemoryFacts("score");
  const place = useUi((ui) => ui.place);
  const library = useUi((ui) => ui.library);
  const student = sideOf(scores, "student")?.provenance;
  const { base, side } = compared;
  const { deltas } = units.compared;
  const context = ({ promptIds }: Side): string => `${promptIds!.length.toLocaleString("en")} tokens`;
  const shown = {
    units,
    // The token that stands for its unit: pressed again, it is no longer selected.
    pinned: token === null ? null : units.leads[unitOf(units, token)]!,
    fileName: decisionFileName(decision),
    caption: pictureCaption(
      compared,
      decision,
      evidenceWords(place),
      library?.files.map(({ name }) => name) ?? [],
    ),
  };
  return (
    <>
      <div className="panel">
        <TokenTable units={units} token={token} />
      </div>
      <div className="panel token-plots">
        <LogProbabilityPlot {...shown} />
        {deltas !== null && (
          <>
            <ScatterPlot {...shown} />
            <CumulativePlot deltas={deltas} {...shown} />
            <Largest units={units} deltas={deltas} pinned={shown.pinned} />
          </>
        )}
      </div>
      <Provenance
        facts={[
          ...sideFacts(base, side),
          ["context without", context(withoutEvidence(scores))],
          ["context with", context(withEvidence(scores))],
          [
            "response",
            compared.refused === null
              ? `${scores.ids.length} tokens, the same ids on both sides`
              : `${scores.ids.length} tokens`,
          ],
          [
            "student",
            student === undefined
              ? "not scored"
              : `${student.engine!.model} (${student.weights!.origin}, ${countOf(student.weights!.steps, "step")})`,
          ],
          ["took", `${scores.seconds.toFixed(1)} s`],
          ...memoryFacts,
        ]}
      />
    </>
  );
}
