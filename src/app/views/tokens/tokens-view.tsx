/** One response, one teacher, two contexts: what the evidence does to each token. */
import { useMemo } from "react";
import { scoreKey } from "../../session/score.ts";
import { type TokenScores, useUi } from "../../state/store.ts";
import { LineChart } from "../chart/line-chart.tsx";
import { ModelPicker } from "../model-picker.tsx";
import { NeedsTask, ViewProblem } from "../needs-task.tsx";
import { StepBar } from "../task/step-bar.tsx";
import { deltaLimit, RAMP } from "./delta-colour.ts";
import { nats } from "./format.ts";
import { engineFacts, Provenance } from "./provenance.tsx";
import { ScoringPanel } from "./scoring-panel.tsx";
import { TokenCard } from "./token-card.tsx";
import { TokenStrip } from "./token-strip.tsx";
import { TokenTable } from "./token-table.tsx";

export function TokensView() {
  const task = useUi((ui) => ui.task);
  const decision = useUi((ui) => ui.decision);
  const problem = useUi((ui) => ui.viewProblem);
  const place = useUi((ui) => ui.place);
  const scores = useUi((ui) => (decision === null ? undefined : ui.scores[scoreKey(decision)]));
  if (task === null) return <NeedsTask />;
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
              <span className="note">
                <ModelPicker of="teacher" />
              </span>
            </div>
            <ScoringPanel scored={scores !== undefined} />
            {scores === undefined ? (
              <div className="unscored">
                {decision?.response !== null && decision?.response !== undefined && (
                  <pre className="text" data-testid="response">
                    {decision.response}
                  </pre>
                )}
                <p className="note">
                  {counts
                    ? `Scoring runs the teacher over ${(counts.vanilla + counts.response).toLocaleString("en")} tokens without evidence and ${(counts.graph + counts.response).toLocaleString("en")} with it, and the student over the first.`
                    : (decision?.countsProblem ?? "")}
                </p>
              </div>
            ) : (
              <Scored scores={scores} token={place.token} />
            )}
          </section>
          {scores !== undefined && <Details scores={scores} token={place.token} />}
        </>
      )}
    </div>
  );
}

function useDeltas(scores: TokenScores): Float32Array {
  return useMemo(() => scores.graph.map((value, i) => value - scores.vanilla[i]!), [scores]);
}

function Scored({ scores, token }: { scores: TokenScores; token: number | null }) {
  const deltas = useDeltas(scores);
  const limit = deltaLimit(deltas);
  const sum = (values: Float32Array): number => values.reduce((total, value) => total + value, 0);
  return (
    <div className="scored">
      <TokenStrip scores={scores} deltas={deltas} limit={limit} pinned={token} />
      <div className="strip-legend note">
        <Ramp limit={limit} />
        <span>
          underline ∝ |Δ| · ␣ space ↵ line end · PuOr ramp kept within [{RAMP[0]}, {RAMP[1]}], clamped at ±
          {limit.toFixed(2)} nats
        </span>
        <span data-testid="sums">
          whole response ({deltas.length} tokens): log p {nats(sum(scores.vanilla))} without,{" "}
          {nats(sum(scores.graph))} with evidence, Δ <strong>{nats(sum(deltas), true)}</strong>
        </span>
      </div>
    </div>
  );
}

function Ramp({ limit }: { limit: number }) {
  return (
    <span className="ramp">
      −{limit.toFixed(1)}
      <span className="ramp-bar" aria-hidden="true" />+{limit.toFixed(1)}
    </span>
  );
}

function Details({ scores, token }: { scores: TokenScores; token: number | null }) {
  const deltas = useDeltas(scores);
  if (token !== null && token >= scores.pieces.length) {
    return (
      <p className="panel nothing" role="alert">
        The response has no token {token}: they go from 0 to {scores.pieces.length - 1}.
      </p>
    );
  }
  const points = (values: Float32Array) => [...values].map((y, x) => ({ x, y }));
  const student = scores.studentInfo;
  return (
    <>
      <div className="token-panes">
        <div className="panel token-left">
          <LineChart
            title="log p by position"
            xLabel="token"
            wholeX
            height={230}
            marked={token}
            series={[
              {
                name: "without evidence",
                className: "vanilla",
                shape: "square",
                points: points(scores.vanilla),
              },
              { name: "with evidence", className: "graph", shape: "circle", points: points(scores.graph) },
              ...(scores.student === null
                ? []
                : [
                    {
                      name: "student",
                      className: "student",
                      shape: "triangle" as const,
                      points: points(scores.student),
                    },
                  ]),
            ]}
          />
          {token === null ? (
            <p className="note hint">Pick a token (← →) to see it under both contexts.</p>
          ) : (
            <TokenCard scores={scores} token={token} />
          )}
        </div>
        <div className="panel">
          <TokenTable scores={scores} deltas={deltas} pinned={token} />
        </div>
      </div>
      <Provenance
        facts={[
          ...engineFacts(scores.teacher),
          ["context without", `${scores.vanillaContext.toLocaleString("en")} tokens`],
          ["context with", `${scores.graphContext.toLocaleString("en")} tokens`],
          ["response", `${scores.ids.length} tokens, the same ids on both sides`],
          [
            "student",
            student === null
              ? "not scored"
              : `${student.info.model} (${student.origin}, ${student.steps} steps)`,
          ],
          ["took", `${scores.seconds.toFixed(1)} s`],
        ]}
      />
    </>
  );
}
