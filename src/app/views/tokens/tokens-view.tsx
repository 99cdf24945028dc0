/** One response, one teacher, two contexts: what the evidence does to each token. */
import { useMemo } from "react";
import type { DecisionModel } from "../../model.ts";
import { evidenceWords } from "../../place/what-if.ts";
import { scoreKey } from "../../session/score.ts";
import { type TokenScores, useUi } from "../../state/store.ts";
import { LongText } from "../../text/long-text.tsx";
import { useMemoryFacts } from "../memory-note.tsx";
import { ModelPickers } from "../model-pickers.tsx";
import { NeedsEpisode, NeedsTask, ViewProblem } from "../needs-task.tsx";
import { StepBar } from "../task/step-bar.tsx";
import { CaseDialog, decisionFileName } from "./case-dialog.tsx";
import { ChangesPanel } from "./changes-panel.tsx";
import { CompareBar } from "./compare-bar.tsx";
import { type Compared, compareSides, pictureCaption } from "./comparison.ts";
import { deltaLimit } from "./delta-colour.ts";
import { nats } from "./format.ts";
import { LeftOutPanel } from "./left-out-panel.tsx";
import { Largest } from "./plots/largest.tsx";
import { CumulativePlot, LogProbabilityPlot } from "./plots/position-plots.tsx";
import { ScatterPlot } from "./plots/scatter-plot.tsx";
import { Provenance, sideFacts } from "./provenance.tsx";
import { RecordedPanel } from "./recorded-panel.tsx";
import { ScoringPanel } from "./scoring-panel.tsx";
import { flips, SIGNAL_TITLES, tokenSignal } from "./signal.ts";
import { SignalBar } from "./signal-bar.tsx";
import { TokenCard } from "./token-card.tsx";
import { TokenStrip } from "./token-strip.tsx";
import { TokenTable } from "./token-table.tsx";
import { AskDistribution } from "./top-tables.tsx";

export function TokensView() {
  const task = useUi((ui) => ui.task);
  const decision = useUi((ui) => ui.decision);
  const problem = useUi((ui) => ui.viewProblem);
  const place = useUi((ui) => ui.place);
  const scores = useUi((ui) => (decision === null ? undefined : ui.scores[scoreKey(decision)]));
  const recorded = decision?.recorded ?? null;
  const compared = useMemo(
    () => (scores === undefined ? null : compareSides(scores, recorded, place.compare)),
    [scores, recorded, place.compare],
  );
  const fit = useUi((ui) => ui.tokenizerFit.scoring);
  const leftOut = scores?.studentProblem ?? fit;
  if (task === null) return <NeedsTask />;
  if (task.episodes.length === 0) return <NeedsEpisode />;
  const counts = decision?.counts;
  return (
    <div className="tokens-view">
      <StepBar task={task} />
      {problem !== null ? (
        <ViewProblem text={problem} />
      ) : (
        <>
          <section className="panel" aria-labelledby="tokens-title">
            <div className="panel-head">
              <h2 id="tokens-title">The same response under two contexts</h2>
            </div>
            <ModelPickers problem={leftOut === null ? null : `The student is left out: ${leftOut}.`} />
            {decision !== null && decision.countsNote !== null && (
              <p className="note" data-testid="counts-note">
                {decision.countsNote}
              </p>
            )}
            <ScoringPanel scored={scores !== undefined} />
            {compared !== null && <CompareBar compared={compared} />}
            {scores === undefined || compared === null ? (
              <div className="unscored">
                {decision?.response !== null && decision?.response !== undefined && (
                  <pre className="text" data-testid="response">
                    <LongText text={decision.response} />
                  </pre>
                )}
                <p className="note">
                  {counts
                    ? `Scoring runs the teacher over ${(counts.vanilla + counts.response).toLocaleString("en")} tokens without evidence and ${(counts.graph + counts.response).toLocaleString("en")} with it${leftOut === null ? ", and the student over the first" : ""}.`
                    : (decision?.countsProblem ?? "")}
                </p>
              </div>
            ) : (
              <Scored scores={scores} compared={compared} token={place.token} />
            )}
          </section>
          {scores !== undefined && compared !== null && (
            <Details scores={scores} compared={compared} token={place.token} decision={decision!} />
          )}
          {decision !== null && scores !== undefined && (
            <LeftOutPanel
              // Another decision's choices are of no use here.
              key={scoreKey(decision)}
              task={task}
              decision={decision}
              scores={scores}
              token={place.token !== null && place.token < scores.ids.length ? place.token : null}
            />
          )}
          {decision !== null && scores !== undefined && compared !== null && (
            <CaseDialog
              decision={decision}
              scores={scores}
              compared={compared}
              evidence={evidenceWords(place)}
            />
          )}
          {task.episodes.length > 0 && <ChangesPanel task={task} />}
          {decision !== null && decision.recorded !== null && (
            <RecordedPanel recorded={decision.recorded} pinned={place.token} />
          )}
        </>
      )}
    </div>
  );
}

function Scored({
  scores,
  compared,
  token,
}: {
  scores: TokenScores;
  compared: Compared;
  token: number | null;
}) {
  const chosen = useUi((ui) => ui.place.signal);
  const { base, side, deltas, columns } = compared;
  const tokens = scores.ids.length;
  const signal = useMemo(() => tokenSignal(chosen, compared, tokens), [chosen, compared, tokens]);
  const flipped = useMemo(() => flips(compared, tokens), [compared, tokens]);
  const sum = (values: ArrayLike<number>): string =>
    nats(Array.from(values).reduce((total, value) => total + value, 0));
  return (
    <div className="scored">
      <SignalBar signal={chosen} />
      <TokenStrip
        pieces={scores.pieces}
        signal={signal}
        deltas={deltas}
        limit={deltas === null ? 1 : deltaLimit(deltas)}
        flipped={flipped}
        pinned={token}
      />
      {signal.missing !== null && (
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
          {flipped === null
            ? "␣ space ↵ line end"
            : `▾ most probable token flips (${flipped.filter(Boolean).length} of ${tokens}) · ␣ space ↵ line end`}
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
    </div>
  );
}

function Details({
  scores,
  compared,
  token,
  decision,
}: {
  scores: TokenScores;
  compared: Compared;
  token: number | null;
  decision: DecisionModel;
}) {
  const memoryFacts = useMemoryFacts("score");
  const place = useUi((ui) => ui.place);
  const library = useUi((ui) => ui.library);
  if (token !== null && token >= scores.pieces.length) {
    return (
      <p className="panel nothing" role="alert">
        The response has no token {token}: they go from 0 to {scores.pieces.length - 1}.
      </p>
    );
  }
  const student = scores.studentInfo;
  const { base, side } = compared;
  const shown = {
    pinned: token,
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
      <div className="token-panes">
        <div className="panel token-plots">
          <LogProbabilityPlot compared={compared} {...shown} />
          {compared.deltas !== null && (
            <>
              <ScatterPlot compared={compared} {...shown} />
              <CumulativePlot deltas={compared.deltas} {...shown} />
              <Largest pieces={scores.pieces} deltas={compared.deltas} pinned={token} />
            </>
          )}
        </div>
        <div className="panel token-left">
          {token === null ? (
            <p className="note hint">
              Pick a token (← →, or . for the largest change) to see it on all sides.
            </p>
          ) : (
            <TokenCard scores={scores} compared={compared} token={token} />
          )}
        </div>
      </div>
      <div className="panel">
        <TokenTable scores={scores} compared={compared} pinned={token} />
      </div>
      <Provenance
        facts={[
          ...sideFacts(base, side),
          ["context without", `${scores.vanillaContext.toLocaleString("en")} tokens`],
          ["context with", `${scores.graphContext.toLocaleString("en")} tokens`],
          [
            "response",
            compared.refused === null
              ? `${scores.ids.length} tokens, the same ids on both sides`
              : `${scores.ids.length} tokens`,
          ],
          [
            "student",
            student === null
              ? "not scored"
              : `${student.info.model} (${student.origin}, ${student.steps} steps)`,
          ],
          ["took", `${scores.seconds.toFixed(1)} s`],
          ...memoryFacts,
        ]}
      />
    </>
  );
}
