/** The evidence test by the number of sources: each context's figure, and how many tasks are covered, against K. */
import { scaleLinear, scalePoint } from "d3";
import { type Ref, useRef } from "react";
import { FEWEST_EPISODES, GATE_CONTEXTS } from "../../../core/gate/index.ts";
import type { Estimate } from "../../../core/statistics/index.ts";
import { formatRange } from "../../base/eta.ts";
import type { Drawn } from "../../base/export/picture.ts";
import { SaveMenu } from "../../base/export/save-menu.tsx";
import { countOf } from "../../base/plural.ts";
import { shownText } from "../../base/text/shown-text.ts";
import { isModelAtWork } from "../../compute/computing.ts";
import {
  OVER_K,
  OVER_K_DECISIONS,
  OVER_K_KEY,
  type OverK,
  overKSetting,
  presentOverK,
  scoreOverK,
  useOverK,
} from "../../compute/gate/run-over-k.ts";
import { useMemory } from "../../compute/models/memory.ts";
import { cancelScoring } from "../../compute/scoring/score.ts";
import { useUi } from "../../compute/store.ts";
import type { KnownOptimal } from "../../data/library/known-optimal.ts";
import { CONTEXT_TITLES, share } from "./gate-words.ts";

export function OverKPanel({ library, known }: { library: string; known: KnownOptimal }) {
  const { drawn } = useOverK();
  const place = useUi((ui) => ui.place);
  const busy = useUi(isModelAtWork);
  const scoring = useUi((ui) => ui.scoring);
  useUi((ui) => ui.models.teacher);
  useMemory(({ weights }) => weights);
  const gate = useRef<SVGSVGElement>(null);
  const covered = useRef<SVGSVGElement>(null);
  const present = presentOverK(drawn, overKSetting(library, known, place));
  const running = scoring.status === "running" && scoring.job === "gate-over-k";
  const whole = present?.rows.every(({ summary }) => summary !== null) ?? false;
  const sample = Math.min(OVER_K_DECISIONS, known.decisions.length);
  const title = "Probability of an optimal action by K";
  const coverageTitle = "Share of tasks covered by K";
  const caption = `${countOf(sample, "decision")}, the same for each K: the first K recorded executions of each task. Intervals: 95 %, bootstrap over episodes.`;
  return (
    <section className="panel over-k" aria-labelledby="over-k-title" data-testid="over-k">
      <div className="panel-head">
        <h2 id="over-k-title">How many sources it takes</h2>
        {present !== null && (
          <span className="gate-save">
            <SaveMenu
              what={title}
              fileName="evidence-by-k"
              picture={(): Drawn | null => gate.current && { svg: gate.current, title, caption }}
            />
            <SaveMenu
              what={coverageTitle}
              fileName="coverage-by-k"
              picture={(): Drawn | null =>
                covered.current && { svg: covered.current, title: coverageTitle, caption }
              }
            />
          </span>
        )}
      </div>
      <div className="gate-controls">
        {running ? (
          <button type="button" onClick={() => void cancelScoring()}>
            Stop drawing
          </button>
        ) : (
          <button type="button" disabled={busy || whole} onClick={() => void scoreOverK()}>
            {whole ? "Drawn over K" : present === null ? "Draw over K" : "Go on over K"}
          </button>
        )}
        <span className="gate-progress">
          {running && `${scoring.label}${scoring.total > 0 ? `, ${scoring.done} of ${scoring.total}` : ""}`}
          {running && scoring.eta !== null && `, ${formatRange(scoring.eta)} left`}
        </span>
        {scoring.status === "failed" && scoring.key === OVER_K_KEY && (
          <span className="fault" role="alert">
            {shownText(scoring.message)}
          </span>
        )}
      </div>
      {present === null ? (
        <p className="note gate-note">
          The test on {countOf(sample, "decision")} with K = {OVER_K.join(", ")} sources per task, and how
          many tasks have a success among them.
        </p>
      ) : (
        <>
          <div className="over-k-charts">
            <figure>
              <figcaption>{title}</figcaption>
              <KChart ref={gate} title={title} series={gateSeries(present)} />
            </figure>
            <figure>
              <figcaption>{coverageTitle}</figcaption>
              <KChart ref={covered} title={coverageTitle} series={coverageSeries(present)} />
            </figure>
          </div>
          <p className="note gate-note">
            {caption}
            {fewest(present) < FEWEST_EPISODES && " Fewer than six episodes: nothing is told apart."}
          </p>
        </>
      )}
    </section>
  );
}

/** Episodes of the smallest summary. */
const fewest = ({ rows }: OverK): number =>
  Math.min(...rows.map(({ summary }) => summary?.episodes ?? Number.POSITIVE_INFINITY));

interface KSeries {
  name: string;
  kind: string;
  points: { k: number; estimate: Estimate }[];
}

const gateSeries = ({ rows }: OverK): KSeries[] =>
  GATE_CONTEXTS.map((context) => ({
    name: CONTEXT_TITLES[context],
    kind: `control-${context}`,
    points: rows.flatMap(({ k, summary }) => {
      const figure = summary?.contexts.find((each) => each.context === context);
      return figure === undefined ? [] : [{ k, estimate: figure.optimal }];
    }),
  }));

const coverageSeries = ({ coverage: { tasks, rows } }: OverK): KSeries[] => [
  {
    name: "tasks covered",
    kind: "control-success-only",
    points: rows.flatMap(({ sourcesPerTask: k, covered }) =>
      k === null || tasks === 0 ? [] : [{ k, estimate: { value: covered / tasks, interval: null } }],
    ),
  },
];

const WIDTH = 460;
const HEIGHT = 220;
const MARGIN = { left: 40, right: 104, top: 10, bottom: 32 };

/** Shares in 0 … 1 against K, a line per series with its name at its end. */
function KChart({
  title,
  series,
  ref,
}: {
  title: string;
  series: readonly KSeries[];
  ref: Ref<SVGSVGElement>;
}) {
  const x = scalePoint(OVER_K.map(String), [MARGIN.left + 8, WIDTH - MARGIN.right]);
  const y = scaleLinear([0, 1], [HEIGHT - MARGIN.bottom, MARGIN.top]);
  const at = (k: number): number => x(String(k)) ?? 0;
  const shown = series.filter(({ points }) => points.length > 0);
  const spoken = shown.map(
    ({ name, points }) =>
      `${name}: ${points.map(({ k, estimate: { value } }) => `K = ${k} ${share(value ?? 0)}`).join(", ")}`,
  );
  const ends = shown
    .map(({ name, kind, points }) => ({ name, kind, at: y(points.at(-1)!.estimate.value ?? 0) }))
    .sort((a, b) => a.at - b.at);
  ends.forEach((end, n) => {
    if (n > 0) end.at = Math.max(end.at, ends[n - 1]!.at + 13);
  });
  return (
    <svg
      ref={ref}
      className="k-chart"
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      width={WIDTH}
      height={HEIGHT}
      role="img"
      aria-label={`${title}. ${spoken.length === 0 ? "Nothing yet" : spoken.join("; ")}`}
    >
      {y.ticks(4).map((tick) => (
        <g key={tick}>
          <line className="grid" x1={MARGIN.left} x2={WIDTH - MARGIN.right + 6} y1={y(tick)} y2={y(tick)} />
          <text x={MARGIN.left - 6} y={y(tick)} dy="0.35em" textAnchor="end">
            {tick}
          </text>
        </g>
      ))}
      {OVER_K.map((k) => (
        <text key={k} x={at(k)} y={HEIGHT - MARGIN.bottom + 14} textAnchor="middle">
          {k}
        </text>
      ))}
      <text x={WIDTH - MARGIN.right} y={HEIGHT - 4} textAnchor="end">
        K, sources per task
      </text>
      {shown.map(({ name, kind, points }) => (
        <g key={name} className={kind}>
          <path
            className="curve"
            d={points
              .map(({ k, estimate }, n) => `${n === 0 ? "M" : "L"}${at(k)} ${y(estimate.value ?? 0)}`)
              .join("")}
          />
          {points.map(({ k, estimate: { value, interval } }) => (
            <g key={k}>
              {interval !== null && (
                <line className="interval" x1={at(k)} x2={at(k)} y1={y(interval[0])} y2={y(interval[1])} />
              )}
              <circle className="point" cx={at(k)} cy={y(value ?? 0)} r={3} />
            </g>
          ))}
        </g>
      ))}
      {ends.map(({ name, kind, at: end }) => (
        <text key={name} className={`name ${kind}`} x={WIDTH - MARGIN.right + 10} y={end} dy="0.35em">
          {name}
        </text>
      ))}
    </svg>
  );
}
