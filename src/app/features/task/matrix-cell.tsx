/** One visit of the matrix. Left alone while its own marks stay: a step changes a few dozen of hundreds. */
import { memo } from "react";
import type { Execution, TaskModel } from "../../data/model.ts";
import { describeVisit } from "./describe-cell.ts";
import { type MarkFlags, markText } from "./marks.ts";

const MARK_CLASSES: Record<string, string> = {
  c: "current",
  e: "eligible",
  r: "rejected",
  t: "tie",
  w: "winner",
  a: "anchor",
  f: "failed-reference",
  p: "pinned",
};

const FAILED_STATUSES = new Set(["rejected", "malformed", "rolled_back"]);

export const MatrixCell = memo(function MatrixCell({
  task,
  execution,
  row,
  column,
  mark,
  tab,
}: {
  task: TaskModel;
  execution: Execution;
  row: number;
  column: number;
  mark: MarkFlags;
  /** The cell of the grid that takes the focus. */
  tab: boolean;
}) {
  const cell = execution.cells[column]!;
  const state = cell.state === null ? null : task.states[cell.state]!;
  const classes = [
    "cell",
    cell.status === "terminal" ? "terminal" : "",
    FAILED_STATUSES.has(cell.status) ? "failed-action" : "",
    cell.gapBefore ? "gap" : "",
    state !== null && state.letter !== "" ? "shared" : "",
    ...[...mark].map((flag) => MARK_CLASSES[flag] ?? ""),
  ];
  const extra = markText(mark);
  return (
    // biome-ignore lint/a11y/useSemanticElements: part of the grid
    <div
      role="gridcell"
      tabIndex={tab ? 0 : -1}
      className={classes.filter(Boolean).join(" ")}
      data-cell={`${row}:${column}`}
      data-state={cell.state ?? ""}
      aria-label={describeVisit(task, execution, column) + (extra === "" ? "" : `; ${extra}`)}
      aria-selected={mark.includes("c") || mark.includes("p")}
    >
      {!cell.located ? "⊥" : state === null ? "?" : state.letter || "·"}
    </div>
  );
});
