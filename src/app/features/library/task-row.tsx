/** One task as a row of the library's table. */
import { memo } from "react";
import { countOf } from "../../../core/plural.ts";
import { nats } from "../../base/format.ts";
import { Mark } from "../../base/mark.tsx";
import { shownName } from "../../base/text/shown-text.ts";
import type { TaskDelta } from "../../data/library/sort-tasks.ts";
import { UNREADABLE } from "../../data/library/task-columns.ts";
import type { TaskSummary } from "../../data/model.ts";
import { goToTask } from "../../data/navigate.ts";

/** A counted figure, or why there is none. */
function counted(value: number): string {
  return value >= 0 ? String(value) : value === UNREADABLE ? "?" : "…";
}

/** `row` counts from 1, the head included. */
export const TaskRow = memo(function TaskRow({
  task,
  row,
  states,
  shared,
  matched,
  fallback,
  prompted,
  delta,
}: {
  task: TaskSummary;
  row: number;
  states: number;
  shared: number;
  matched: number;
  fallback: number;
  prompted: number;
  delta: TaskDelta | null;
}) {
  const open = (): void => goToTask(task.task, task.environment);
  return (
    // The link inside does the same for the keyboard; the row is a larger target for the mouse.
    <tr onClick={open} aria-rowindex={row}>
      <th scope="row">
        <button
          type="button"
          className="plain task-name"
          title={shownName(task.task)}
          onClick={(event) => {
            event.stopPropagation();
            open();
          }}
        >
          <bdi>{shownName(task.task)}</bdi>
        </button>
        <span className="description" title={shownName(task.description, 2000)}>
          <bdi>{shownName(task.description, 500)}</bdi>
        </span>
      </th>
      {task.admitted < task.sources ? (
        <td
          className="number"
          title={`${task.admitted} of ${task.sources} recorded executions are admitted: ${task.environment} takes complete, replay-checked records only`}
        >
          {task.admitted} <span className="muted">of {task.sources}</span>
        </td>
      ) : (
        <td className="number">{task.sources}</td>
      )}
      <td className="number">
        {task.successes} <Mark success />
      </td>
      <td className="number">
        {task.failures} <Mark success={false} />
        {task.unknown > 0 && (
          <div
            className="note"
            title={`Nobody recorded the outcome of ${countOf(task.unknown, "execution")}`}
          >
            {task.unknown} <Mark success={null} />
          </div>
        )}
      </td>
      <td className="number">{counted(states)}</td>
      <td className="number">
        {counted(shared)}
        {states > 0 && <span className="muted"> ({Math.round((100 * shared) / states)} %)</span>}
      </td>
      <td className="number">
        {task.episodes} <span className="muted">({task.episodesWon})</span>
      </td>
      <ShareCell count={matched} of={task.decisions} what="decisions matched" bar />
      <ShareCell count={fallback} of={task.decisions} what="decisions with a fallback" />
      <td className="number" title={deltaTitle(delta, task, prompted)}>
        {delta !== null ? (
          nats(delta.mean, true)
        ) : prompted === 0 && task.decisions > 0 ? (
          <span className="note">no prompts</span>
        ) : (
          "–"
        )}
      </td>
    </tr>
  );
});

/** What the last column says. */
function deltaTitle(delta: TaskDelta | null, { decisions }: TaskSummary, prompted: number): string {
  if (delta !== null)
    return `${countOf(delta.tokens, "token")} of ${countOf(delta.decisions, "scored decision")}`;
  if (decisions === 0) return "no student episode";
  if (prompted === 0) return "its decisions were recorded without prompts, so no teacher can score them";
  return "none of its decisions has been scored here";
}

/** A share of a task's decisions; or why it is not known. */
function ShareCell(props: { count: number; of: number; what: string; bar?: boolean }) {
  const { count, of, what, bar = false } = props;
  if (count < 0) return <td className="number">{counted(count)}</td>;
  const share = of === 0 ? 0 : count / of;
  return (
    <td className="number" title={`${count} of ${of} ${what}`}>
      {bar && (
        <span className="bar" aria-hidden="true">
          <span style={{ width: `${share * 100}%` }} />
        </span>
      )}
      {of === 0 ? "–" : `${Math.round(share * 100)} %`}
    </td>
  );
}
