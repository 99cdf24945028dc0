import { useRef, useState } from "react";
import { SaveMenu } from "../../export/save-menu.tsx";
import { curvesCsv } from "../../runs/export-run.ts";
import type { Run } from "../../runs/run.ts";
import { saveFile } from "../../session/save-file.ts";
import { shownName } from "../../text/shown-text.ts";
import { drawnCurves } from "./curves-picture.ts";
import { curveOf, LETTERS, SHOWN_FIGURES } from "./figures.ts";
import { type Charted, RunChart } from "./run-chart.tsx";

/** Whether charts of both are the same; the worker's list makes another object of a run every few seconds. */
const drawnAlike = (a: Run, b: Run | undefined): boolean =>
  a.id === b?.id && a.figures === b.figures && a.title === b.title && a.where === b.where;

/** The runs with their letters: the same list as long as nothing that is drawn of them has changed. */
function useCharted(runs: readonly Run[]): readonly Charted[] {
  const last = useRef<readonly Charted[]>([]);
  const same =
    last.current.length === runs.length && last.current.every(({ run }, n) => drawnAlike(run, runs[n]));
  if (!same) last.current = runs.map((run, letter) => ({ run, letter }));
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
  const [step, setStep] = useState<number | null>(null);
  const grid = useRef<HTMLDivElement>(null);
  const charted = useCharted(runs);
  const steps = runs.flatMap(({ figures: { points, evaluations } }) =>
    [points[0], points.at(-1), evaluations[0], evaluations.at(-1)].flatMap((each) => each?.step ?? []),
  );
  if (steps.length === 0) return <p className="note hint">The curves begin with the first step.</p>;
  const [from, to] = [Math.min(...steps), Math.max(...steps)];
  const figures = SHOWN_FIGURES.filter(({ key }) =>
    key === "success" || key === "evaluatedSr" ? runs.some((run) => curveOf(run, key).length > 0) : true,
  );
  return (
    <section className="run-charts" aria-label="Curves" data-testid="run-charts">
      <div className="run-charts-head">
        {runs.length > 1 && (
          <ul className="run-legend" aria-label="Runs on the charts">
            {charted.map(({ run, letter }) => (
              <li key={run.id} className={`run-series run-${letter}`}>
                <svg width="34" height="10" aria-hidden="true">
                  <path className="curve" d="M1,5h32" />
                  <circle className="point" cx="17" cy="5" r="2.4" />
                </svg>
                <b>{LETTERS[letter]}</b> <bdi>{shownName(run.title)}</bdi>{" "}
                <span className="note">{run.where}</span>
              </li>
            ))}
          </ul>
        )}
        <label className="step-reader">
          Read at step{" "}
          <input
            type="range"
            min={from}
            max={to}
            step={1}
            value={step ?? to}
            onChange={(event) => setStep(event.target.valueAsNumber)}
          />{" "}
          <output>{step ?? "last"}</output>
        </label>
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
      <div className="run-chart-grid" ref={grid}>
        {figures.map((figure) => (
          <RunChart
            key={figure.key}
            figure={figure}
            runs={charted}
            from={from}
            to={to}
            step={step}
            takenBack={takenBack}
            onStep={setStep}
          />
        ))}
      </div>
    </section>
  );
}
