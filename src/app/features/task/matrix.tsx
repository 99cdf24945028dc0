/**
 * Executions as rows, visits as columns, the student on top: an ARIA grid with arrow keys. A cell carries the letter of
 * its state; all visits to the state under the pointer light up together.
 */
import { type CSSProperties, type KeyboardEvent, memo, useEffect, useMemo, useRef, useState } from "react";
import { countOf } from "../../../core/plural.ts";
import { Mark, successWords } from "../../base/mark.tsx";
import { shownName } from "../../base/text/shown-text.ts";
import { useUi } from "../../compute/store.ts";
import { chooseVisit } from "../../data/compared-visits.ts";
import type { Execution, TaskModel } from "../../data/model.ts";
import { goToDecision, navigate } from "../../data/navigate.ts";
import { Swatch } from "../../data/state-graph/highlight-chips.tsx";
import { toggleHighlight } from "../../data/state-graph/highlights.ts";
import { hoverState, useSameState } from "../../data/state-graph/use-same-state.ts";
import { describeVisit } from "./describe-cell.ts";
import { parseRowMarks, rowMarks, type VisitMarks } from "./marks.ts";
import { MatrixCell } from "./matrix-cell.tsx";

interface Focus {
  row: number;
  column: number;
  /** The decision that was shown then: in the student's row the focus goes with it. */
  decision: number;
}

export const Matrix = memo(function Matrix({
  task,
  episode,
  decision,
  marks,
}: {
  task: TaskModel;
  episode: Execution | null;
  decision: number;
  marks: VisitMarks | null;
}) {
  const rows = useMemo(() => (episode === null ? task.sources : [episode, ...task.sources]), [task, episode]);
  const columns = rows.reduce((most, row) => Math.max(most, row.cells.length), 0);
  const grid = useRef<HTMLDivElement>(null);
  const [focused, setFocus] = useState<Focus>({ row: 0, column: decision, decision });
  const focus = focused.row === 0 && focused.decision !== decision ? { row: 0, column: decision } : focused;
  const [line, setLine] = useState("");
  const highlights = useUi((ui) => ui.place.highlights);
  useSameState(grid);

  useEffect(() => {
    // Keep the current decision in sight, without moving the page. To ask for places lays the page out now, while the
    // next frame is awaited: the frame itself then has less to do, and a large step is not late for it.
    const scroller = grid.current;
    const cell = scroller?.querySelector<HTMLElement>(`[data-cell="0:${decision}"]`);
    if (scroller && cell) {
      const left =
        cell.offsetLeft - (scroller.querySelector<HTMLElement>(".row-head")?.offsetWidth ?? 0) - 60;
      if (left < scroller.scrollLeft || cell.offsetLeft + 60 > scroller.scrollLeft + scroller.clientWidth) {
        scroller.scrollLeft = left;
      }
    }
  }, [decision]);

  const activate = (row: number, column: number): void => {
    const execution = rows[row];
    if (execution === undefined) return;
    if (execution.kind === "student") goToDecision(Math.min(column, Math.max(0, execution.decisions - 1)));
    else navigate({ visit: { source: execution.id, position: column } });
  };

  const place = (target: EventTarget): { row: number; column: number } | null => {
    const text = target instanceof Element ? target.closest("[data-cell]")?.getAttribute("data-cell") : null;
    const [row, column] = (text ?? "").split(":").map(Number);
    return text && row !== undefined && column !== undefined ? { row, column } : null;
  };

  const move = (event: KeyboardEvent): void => {
    const length = (row: number): number => rows[row]?.cells.length ?? 0;
    let { row, column } = place(event.target) ?? focus;
    if (event.key === "ArrowRight") column = Math.min(column + 1, length(row) - 1);
    else if (event.key === "ArrowLeft") column = Math.max(column - 1, 0);
    else if (event.key === "ArrowDown") row = Math.min(row + 1, rows.length - 1);
    else if (event.key === "ArrowUp") row = Math.max(row - 1, 0);
    else if (event.key === "Home") column = 0;
    else if (event.key === "End") column = length(row) - 1;
    else if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      activate(row, column);
      return;
    } else if (event.key === "v" && !event.ctrlKey && !event.metaKey && !event.altKey) {
      const execution = rows[row];
      if (execution === undefined) return;
      const kind = execution.kind === "student" ? "episode" : "source";
      chooseVisit({ kind, id: execution.id, position: column });
      event.preventDefault();
      return;
    } else return;
    event.preventDefault();
    column = Math.min(column, length(row) - 1);
    setFocus({ row, column, decision });
    grid.current?.querySelector<HTMLElement>(`[data-cell="${row}:${column}"]`)?.focus();
  };

  const look = (target: EventTarget): void => {
    const at = place(target);
    const execution = at === null ? undefined : rows[at.row];
    setLine(at === null || execution === undefined ? "" : describeVisit(task, execution, at.column));
    hoverState(target);
  };

  const firstSource = episode === null ? 0 : 1;
  const rowOf = (execution: Execution, row: number) => (
    <MatrixRow
      key={`${execution.kind} ${execution.id}`}
      task={task}
      execution={execution}
      row={row}
      tab={focus.row === row ? Math.min(focus.column, execution.cells.length - 1) : -1}
      marks={rowMarks(execution.kind === "student" ? marks?.student : marks?.sources.get(execution.id))}
    />
  );

  return (
    <section className="panel matrix-panel" aria-labelledby="matrix-title">
      <div className="panel-head">
        <h2 id="matrix-title">Executions</h2>
        <span className="note">row = execution, column = visit before decision j</span>
      </div>
      {/* biome-ignore lint/a11y/useSemanticElements: a grid is more than a table: its cells take the focus */}
      <div
        ref={grid}
        className="matrix"
        role="grid"
        tabIndex={-1}
        aria-label="Executions by visit"
        style={{ "--columns": columns } as CSSProperties}
        aria-rowcount={rows.length + 1}
        aria-colcount={columns + 1}
        onKeyDown={move}
        onClick={(event) => {
          const at = place(event.target);
          if (at !== null) {
            setFocus({ ...at, decision });
            activate(at.row, at.column);
          }
        }}
        onMouseOver={(event) => look(event.target)}
        onMouseLeave={() => {
          setLine("");
          hoverState(null);
        }}
        onFocus={(event) => look(event.target)}
        onBlur={() => hoverState(null)}
      >
        <HeadRow columns={columns} current={decision} />
        {episode !== null && rowOf(episode, 0)}
        <div className="matrix-sources" role="none">
          {/* For the eye and the pointer: the rows name themselves, and the key p highlights. */}
          <div className="matrix-heads" aria-hidden="true">
            {task.sources.map((execution) => (
              <SourceHead
                key={execution.id}
                execution={execution}
                highlight={highlights.indexOf(execution.id)}
              />
            ))}
          </div>
          <div role="none">{task.sources.map((execution, i) => rowOf(execution, i + firstSource))}</div>
        </div>
      </div>
      <p className="status-line" data-testid="matrix-status">
        {line ||
          "Point at a cell, or use the arrow keys. Enter opens a decision or pins a visit; p highlights a path, v compares."}
      </p>
    </section>
  );
});

const HeadRow = memo(function HeadRow({ columns, current }: { columns: number; current: number }) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: part of the grid
    // biome-ignore lint/a11y/useFocusableInteractive: the cells take the focus
    <div className="matrix-row head" role="row" aria-rowindex={1}>
      {/* biome-ignore lint/a11y/useSemanticElements: part of the grid */}
      {/* biome-ignore lint/a11y/useFocusableInteractive: the cells take the focus */}
      <div className="row-head" role="columnheader">
        execution
      </div>
      {Array.from({ length: columns }, (_, column) => (
        // biome-ignore lint/a11y/useSemanticElements: part of the grid
        // biome-ignore lint/a11y/useFocusableInteractive: the cells take the focus
        // biome-ignore lint/suspicious/noArrayIndexKey: the index is what the column is
        <div key={column} className={`column-head${column === current ? " now" : ""}`} role="columnheader">
          <span className={column % 5 === 0 || column === current ? undefined : "hidden-visually"}>
            {column}
          </span>
        </div>
      ))}
    </div>
  );
});

/** An execution in words, as the head of its row. */
function describeRow({ id, decisions, ended, success, reservation }: Execution): string {
  const raw = reservation === null ? "" : `; ${reservation}`;
  return `${shownName(id)}: ${successWords(success)}, ${countOf(decisions, "decision")}, ended by ${ended}${raw}`;
}

/**
 * A row with its cells. The heads of sources are drawn in a column of their own, which scrolls as one: each head kept in
 * place by itself would make two layers of every row to the browser.
 */
const MatrixRow = memo(function MatrixRow({
  task,
  execution,
  row,
  tab,
  marks,
}: {
  task: TaskModel;
  execution: Execution;
  row: number;
  tab: number;
  marks: string;
}) {
  const flags = parseRowMarks(marks);
  const student = execution.kind === "student";
  return (
    // biome-ignore lint/a11y/useSemanticElements: part of the grid
    // biome-ignore lint/a11y/useFocusableInteractive: the cells take the focus
    <div
      className={`matrix-row${student ? " student" : ""}`}
      role="row"
      aria-rowindex={row + 2}
      data-source={student ? undefined : execution.id}
    >
      {/* biome-ignore lint/a11y/useSemanticElements: part of the grid */}
      {/* biome-ignore lint/a11y/useFocusableInteractive: the cells take the focus */}
      <div
        role="rowheader"
        className={student ? "row-head" : "hidden-visually"}
        title={student ? describeRow(execution) : undefined}
      >
        {student ? (
          <>
            <Mark success={execution.success} />
            <span className="row-name">student</span>
            {isRaw(execution) && <Raw />}
          </>
        ) : (
          describeRow(execution)
        )}
      </div>
      {execution.cells.map((_, column) => (
        <MatrixCell
          // biome-ignore lint/suspicious/noArrayIndexKey: the index is what the visit is
          key={column}
          task={task}
          execution={execution}
          row={row}
          column={column}
          mark={flags.get(column) ?? ""}
          tab={column === tab}
        />
      ))}
    </div>
  );
});

const SourceHead = memo(function SourceHead({
  execution,
  highlight,
}: {
  execution: Execution;
  /** Place among the highlighted executions, or -1. */
  highlight: number;
}) {
  return (
    <div className="row-head" data-source={execution.id} title={describeRow(execution)}>
      <Mark success={execution.success} />
      <button
        type="button"
        className="plain row-name"
        tabIndex={-1}
        title={`${highlight < 0 ? "Highlight" : "Stop highlighting"} this execution’s path (p)`}
        onClick={() => toggleHighlight(execution.id)}
      >
        <bdi>{shownName(execution.id, 80)}</bdi>
      </button>
      {highlight >= 0 && <Swatch place={highlight} />}
      {isRaw(execution) && <Raw />}
    </div>
  );
});

const isRaw = ({ complete, verified }: Execution): boolean => !complete || !verified;

const Raw = () => <span className="untrusted">raw</span>;
