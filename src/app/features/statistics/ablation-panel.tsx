/** The ablation matrix: every control at every source budget, over the library or over the task that is open. */
import { useMemo, useRef, useState } from "react";
import { countOf } from "../../../core/plural.ts";
import { taskKey } from "../../../core/record/library.ts";
import { CONTROLS } from "../../../core/retrieval/selection.ts";
import { ABLATION_BUDGETS, type AblationMatrix, estimate } from "../../../core/statistics/index.ts";
import type { Drawn } from "../../base/export/picture.ts";
import { SaveMenu } from "../../base/export/save-menu.tsx";
import { saveFile } from "../../base/save-file.ts";
import { Scroller } from "../../base/scroller.tsx";
import { shownName } from "../../base/text/shown-text.ts";
import { scoredTasks } from "../../compute/scoring/scored-tasks.ts";
import { useUi } from "../../compute/store.ts";
import type { LibrarySummary, TaskRef } from "../../data/model.ts";
import {
  CONTROL_TITLES,
  type Controls,
  controlsOf,
  selectionOf,
  whatIfOfSelection,
  whatIfWords,
} from "../../url/what-if.ts";
import { AblationChart, CONTROL_SHAPES } from "./ablation-chart.tsx";
import {
  ablationCsv,
  ablationMarkdown,
  budgetName,
  cellAt,
  coverageRow,
  estimateText,
  figureTitle,
  SHOWN_FIGURES,
  type ShownCell,
  type ShownFigure,
} from "./ablation-table.ts";
import { CopyButton } from "./copy-button.tsx";
import { useAblation } from "./use-ablation.ts";

export function AblationPanel({ library }: { library: LibrarySummary }) {
  const place = useUi((ui) => ui.place);
  const open = useUi((ui) => ui.task);
  const [ofTask, setOfTask] = useState(false);
  const task = ofTask && open !== null ? open : null;
  // The matrix has every control and every budget itself.
  const fixed: Controls = { ...controlsOf(place), control: "graph", sourcesPerTask: null };
  const ref = task === null ? null : { library: library.id, environment: task.environment, task: task.task };
  const { state, compute, cancel } = useAblation(library, ref, selectionOf(fixed));
  return (
    <section className="panel ablation" aria-labelledby="ablation-title">
      <div className="panel-head">
        <h2 id="ablation-title">Ablation matrix</h2>
        {open !== null && (
          <label>
            Over{" "}
            <select
              value={ofTask ? "task" : "library"}
              onChange={({ target }) => setOfTask(target.value === "task")}
            >
              <option value="library">the library</option>
              <option value="task">{shownName(open.task, 60)}</option>
            </select>
          </label>
        )}
        {state.status === "running" ? (
          <button type="button" onClick={cancel}>
            Cancel
          </button>
        ) : (
          state.status !== "done" && (
            <button type="button" className="primary" onClick={compute}>
              Compute the matrix
            </button>
          )
        )}
      </div>
      <div className="ablation-body">
        {state.status === "idle" && (
          <p className="note">
            What retrieval finds with the full graph, success only, hindsight only and the minimum prefix,
            each with 1, 4, 8, 16 and all sources per task. Each cell is a pass over all decisions.
          </p>
        )}
        {state.status === "running" && (
          <div role="status" className="ablation-progress">
            <progress value={state.share} aria-label="Computing the matrix" />
            <span>{Math.floor(100 * state.share)} %</span>
          </div>
        )}
        {state.status === "failed" && <p role="alert">{state.message}</p>}
        {state.status === "done" && (
          <Matrix matrix={state.matrix} library={library} task={ref} words={whatIfWords(fixed)} />
        )}
      </div>
    </section>
  );
}

/** The cells with mean Δ of what was scored here under each cell's selection. */
function useCells(matrix: AblationMatrix, library: LibrarySummary, task: TaskRef | null): ShownCell[] {
  const scores = useUi((ui) => ui.scores);
  const place = useUi((ui) => ui.place);
  return useMemo(
    () =>
      matrix.cells.map((cell) => {
        const { control, sourcesPerTask } = whatIfOfSelection({
          control: cell.control,
          ...(cell.sourcesPerTask === null ? {} : { sourcesPerTask: cell.sourcesPerTask }),
        });
        const selection = selectionOf({ ...controlsOf(place), control, sourcesPerTask });
        const found = scoredTasks(scores, { selection, endOfTurn: place.endOfTurn }, library.id);
        const one = task === null ? null : found.get(taskKey(task.environment, task.task));
        const deltas = one === null ? [...found.values()] : one === undefined ? [] : [one];
        const delta = estimate({
          sums: deltas.map(({ mean, tokens }) => mean * tokens),
          counts: deltas.map(({ tokens }) => tokens),
        });
        return { ...cell, figures: { ...cell.figures, delta } };
      }),
    [matrix, scores, place, library, task],
  );
}

function Matrix({
  matrix,
  library,
  task,
  words,
}: {
  matrix: AblationMatrix;
  library: LibrarySummary;
  task: TaskRef | null;
  words: readonly string[];
}) {
  const cells = useCells(matrix, library, task);
  const [figure, setFigure] = useState<ShownFigure>("referenced");
  const drawing = useRef<SVGSVGElement>(null);
  const { kind, count } = matrix.clusters;
  const scope = [shownName(library.title), ...(task === null ? [] : [shownName(task.task)]), ...words].join(
    " · ",
  );
  const title = figureTitle(figure, matrix.unit);
  const scored = cells.some((cell) => cell.figures.delta.value !== null);
  const intervals =
    count < 2
      ? `No intervals: they need two ${kind}s or more.`
      : `Intervals: 95 %, bootstrap over ${countOf(count, kind)}.`;
  const drawn = (): Drawn | null =>
    drawing.current && {
      svg: drawing.current,
      title: `${title} by source budget`,
      caption: `${scope}. ${countOf(matrix.decisions, "decision")}. ${intervals}`,
      legend: CONTROLS.map((control) => ({
        name: CONTROL_TITLES[control],
        className: `control-${control}`,
        shape: CONTROL_SHAPES[control],
      })),
    };
  return (
    <>
      <div className="ablation-tools">
        <fieldset className="segmented">
          <legend className="hidden-visually">Figure</legend>
          {SHOWN_FIGURES.map((each) => (
            <button
              key={each}
              type="button"
              aria-pressed={figure === each}
              disabled={each === "delta" && !scored}
              title={each === "delta" && !scored ? "no decision was scored here" : undefined}
              onClick={() => setFigure(each)}
            >
              {figureTitle(each, matrix.unit)}
            </button>
          ))}
        </fieldset>
        <span className="ablation-save">
          <CopyButton text={() => ablationMarkdown(scope, matrix, cells, CONTROLS)} />
          <button
            type="button"
            onClick={() =>
              saveFile("ablation.csv", new Blob([ablationCsv(matrix, cells)], { type: "text/csv" }))
            }
          >
            Save as CSV
          </button>
          <SaveMenu what={title} fileName={`ablation-${figure}`} picture={drawn} />
        </span>
      </div>
      <Scroller className="ablation-scroll" label="Controls by source budget">
        <table data-testid="ablation-table">
          <caption className="hidden-visually">{title}</caption>
          <thead>
            <tr>
              <th scope="col">Evidence</th>
              {ABLATION_BUDGETS.map((k) => (
                <th key={budgetName(k)} scope="col" className="number">
                  {budgetName(k)}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {CONTROLS.map((control) => (
              <tr key={control}>
                <th scope="row">
                  <svg width="14" height="14" viewBox="-7 -7 14 14" aria-hidden="true">
                    <g className={`control-${control}`}>
                      <path className="point" d={CONTROL_SHAPES[control]} />
                    </g>
                  </svg>{" "}
                  {CONTROL_TITLES[control]}
                </th>
                {ABLATION_BUDGETS.map((k) => (
                  <td key={budgetName(k)} className="number">
                    {estimateText(figure, cellAt(cells, control, k).figures[figure])}
                  </td>
                ))}
              </tr>
            ))}
            <tr className="ablation-coverage">
              <th
                scope="row"
                title="Tasks with a trusted success; in parentheses with planner and oracle records"
              >
                coverage by K (with planner)
              </th>
              {coverageRow(matrix).map((text, i) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: columns stay where they are
                <td key={i} className="number">
                  {text}
                </td>
              ))}
            </tr>
          </tbody>
        </table>
      </Scroller>
      <figure className="ablation-figure">
        <AblationChart ref={drawing} figure={figure} title={title} cells={cells} />
      </figure>
      <p className="note">
        {countOf(matrix.decisions, "decision")}. {intervals}
        {matrix.unmeasured > 0 &&
          ` The evidence of ${countOf(matrix.unmeasured, "decision")} could not be measured and is in no mean size.`}{" "}
        Mean Δ is of the decisions that were scored here under the cell’s selection, and of no others.
      </p>
    </>
  );
}
