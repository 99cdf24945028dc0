/** The curves of one run or of several, and how they are drawn and read: the charts, and what a rail sets about them. */
import { useRef } from "react";
import { countOf } from "../../../core/plural.ts";
import { SaveMenu } from "../../base/export/save-menu.tsx";
import { saveFile } from "../../base/save-file.ts";
import { curvesCsv } from "../runs/internal/export-run.ts";
import type { Run } from "../runs/run.ts";
import { configKey } from "../runs/run-differences.ts";
import { SMOOTHINGS, toggleOpened, useChartOptions } from "./chart-options.ts";
import { curveOf, SHOWN_FIGURES, type ShownFigure } from "./figures.ts";
import { drawnCurves } from "./internal/curves-picture.ts";
import { quietReason } from "./internal/quiet.ts";
import { type Charted, RunChart } from "./internal/run-chart.tsx";
import { MOST_CURVES, numberOf, seriesName, seriesOf } from "./series.ts";

/** Whether charts of both are the same; the worker's list makes another object of a run every few seconds. */
const drawnAlike = (a: Run, b: Run | undefined): boolean =>
  a.id === b?.id && a.figures === b.figures && a.title === b.title && a.where === b.where;

interface Drawn {
  runs: readonly Run[];
  averaged: boolean;
  charted: readonly Charted[];
  /** Curves for which there was no dash pattern. */
  left: number;
  /** Figures with nothing to say, and why. */
  quiet: ReadonlyMap<ShownFigure["key"], string>;
}

/** The curves by their numbers: the same list as long as nothing that is drawn of the runs has changed. */
function useCharted(runs: readonly Run[], averaged: boolean): Drawn {
  const last = useRef<Drawn | null>(null);
  const before = last.current;
  const same =
    before !== null &&
    before.averaged === averaged &&
    before.runs.length === runs.length &&
    before.runs.every((run, n) => drawnAlike(run, runs[n]));
  if (same) return before;
  const all = seriesOf(runs, averaged);
  const series = all.slice(0, MOST_CURVES);
  const quiet = new Map(
    SHOWN_FIGURES.flatMap(({ key }) => {
      const reason = quietReason(key, series);
      return reason === null ? [] : [[key, reason] as const];
    }),
  );
  last.current = {
    ...{ runs, averaged, quiet },
    charted: series.map((each, place) => ({ series: each, place })),
    left: all.length - series.length,
  };
  return last.current;
}

export function RunCharts({
  runs,
  takenBack = null,
}: {
  runs: readonly Run[];
  /** Steps after this one were taken back. */
  takenBack?: number | null;
}) {
  const { smoothing, averaged, step: chosen, opened } = useChartOptions();
  const grid = useRef<HTMLDivElement>(null);
  const { charted, left, quiet } = useCharted(runs, averaged);
  const steps = stepsOf(runs);
  if (steps === null) return <p className="note hint">Curves appear after the first step.</p>;
  const { from, to } = steps;
  const step = within(chosen, steps);
  const figures = SHOWN_FIGURES.filter(({ key }) =>
    key === "success" || key === "evaluatedSr" ? runs.some((run) => curveOf(run, key).length > 0) : true,
  );
  const chart = (figure: ShownFigure) => (
    <RunChart
      key={figure.key}
      figure={figure}
      runs={charted}
      from={from}
      to={to}
      step={step}
      takenBack={takenBack}
      smoothing={smoothing}
      onStep={(at) => useChartOptions.setState({ step: at })}
    />
  );
  return (
    <section className="run-charts" aria-label="Curves" data-testid="run-charts">
      <div className="run-charts-head">
        {runs.length > 1 && (
          <ul className="run-legend" aria-label="Runs on the charts">
            {charted.map(({ series, place }) => (
              <li key={series[0].id} className={`run-series run-${place}`}>
                <svg width="34" height="10" aria-hidden="true">
                  <path className="curve" d="M1,5h32" />
                  <circle className="point" cx="17" cy="5" r="2.4" />
                </svg>
                <b>{numberOf(place)}</b> <bdi>{seriesName(series)}</bdi>{" "}
                <span className="note">
                  {series[0].where}
                  {series.length > 1 && ", band: ± SD"}
                </span>
              </li>
            ))}
          </ul>
        )}
        {left > 0 && (
          <p className="note">
            {countOf(left, "further curve")} not drawn: a chart has {MOST_CURVES} at most.
          </p>
        )}
        <span className="run-export">
          <button
            type="button"
            onClick={() => saveFile("curves.csv", new Blob([curvesCsv(runs)], { type: "text/csv" }))}
          >
            CSV
          </button>
          <SaveMenu
            what="Curves"
            fileName="curves"
            picture={() => (grid.current === null ? null : drawnCurves(grid.current, figures, charted, step))}
          />
        </span>
      </div>
      <div ref={grid}>
        <div className="run-chart-grid">{figures.filter(({ key }) => !quiet.has(key)).map(chart)}</div>
        {figures
          .filter(({ key }) => quiet.has(key))
          .map((figure) => (
            <details
              key={figure.key}
              className="folded-chart"
              open={opened.includes(figure.key)}
              onToggle={({ currentTarget }) => toggleOpened(figure.key, currentTarget.open)}
              data-testid="folded-chart"
            >
              <summary>
                {figure.title}: {quiet.get(figure.key)}
              </summary>
              {opened.includes(figure.key) && chart(figure)}
            </details>
          ))}
      </div>
    </section>
  );
}

interface Steps {
  from: number;
  to: number;
}

/** The first and the last step with a figure; null before there is one. */
function stepsOf(runs: readonly Run[]): Steps | null {
  const steps = runs.flatMap(({ figures: { points, evaluations } }) =>
    [points[0], points.at(-1), evaluations[0], evaluations.at(-1)].flatMap((each) => each?.step ?? []),
  );
  return steps.length === 0 ? null : { from: Math.min(...steps), to: Math.max(...steps) };
}

/** A step that was chosen on other runs may not be one of these. */
const within = (step: number | null, { from, to }: Steps): number | null =>
  step !== null && step >= from && step <= to ? step : null;

/** For a rail: how the curves are drawn, and read. Averaging is offered where there is something to average. */
export function ChartOptions({ runs }: { runs: readonly Run[] }) {
  const { smoothing, averaged, step: chosen } = useChartOptions();
  const several = new Set(runs.map(configKey)).size < runs.length;
  const steps = stepsOf(runs);
  if (steps === null) return null;
  const step = within(chosen, steps);
  return (
    <>
      <h3>Curves</h3>
      <label>
        Smooth over{" "}
        <select
          value={smoothing}
          onChange={({ target }) =>
            useChartOptions.setState({
              smoothing: SMOOTHINGS.find((each) => String(each) === target.value) ?? 1,
            })
          }
        >
          {SMOOTHINGS.map((steps) => (
            <option key={steps} value={steps}>
              {steps === 1 ? "nothing" : `${steps} steps`}
            </option>
          ))}
        </select>
      </label>
      {several && (
        <label>
          <input
            type="checkbox"
            checked={averaged}
            onChange={({ target }) => useChartOptions.setState({ averaged: target.checked })}
          />{" "}
          Average seeds
        </label>
      )}
      <label className="step-reader">
        Read at step{" "}
        <input
          type="range"
          min={steps.from}
          max={steps.to}
          step={1}
          value={step ?? steps.to}
          onChange={({ target }) => useChartOptions.setState({ step: target.valueAsNumber })}
        />{" "}
        <output>{step ?? "last"}</output>
      </label>
    </>
  );
}
