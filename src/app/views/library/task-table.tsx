/** The tasks, sortable and filtered; a row opens its task. */
import { memo, useMemo, useRef } from "react";
import type { TaskSummary } from "../../model.ts";
import { goToTask, navigate } from "../../place/navigate.ts";
import type { SortKey } from "../../place/place.ts";
import { Mark } from "../../shell/mark.tsx";
import { Scroller } from "../../shell/scroller.tsx";
import { useUi } from "../../state/store.ts";
import { matchedShare, visibleTasks } from "./sort-tasks.ts";
import { useRowWindow } from "./use-row-window.ts";

/** Height of every row, in CSS pixels; library.css says the same. */
const ROW_HEIGHT = 52;

const COLUMNS: { key: SortKey; title: string; numeric: boolean }[] = [
  { key: "task", title: "Task", numeric: false },
  { key: "sources", title: "Executions", numeric: true },
  { key: "successes", title: "Succeeded", numeric: true },
  { key: "failures", title: "Did not", numeric: true },
  { key: "states", title: "States", numeric: true },
  { key: "shared", title: "Shared", numeric: true },
  { key: "episodes", title: "Episodes (won)", numeric: true },
  { key: "matched", title: "Decisions matched", numeric: true },
];

export function TaskTable({ tasks }: { tasks: TaskSummary[] }) {
  const place = useUi((ui) => ui.place);
  const { filter, sort, descending } = place;
  const shown = useMemo(
    () => visibleTasks(tasks, { filter, sort, descending }),
    [tasks, filter, sort, descending],
  );
  const scroller = useRef<HTMLElement>(null);
  const { first, end, before, after } = useRowWindow(scroller, shown, ROW_HEIGHT);
  return (
    <div className="panel task-panel">
      <div className="panel-head">
        <label className="filter">
          Filter <span className="key">/</span>
          <input
            id="task-filter"
            type="search"
            value={place.filter}
            placeholder="words of the name or the description"
            onChange={(event) => navigate({ filter: event.target.value })}
          />
        </label>
        <span className="note" role="status">
          {shown.length === tasks.length
            ? `${tasks.length} tasks`
            : `${shown.length} of ${tasks.length} tasks`}
        </span>
      </div>
      <Scroller className="table-scroll" label="Tasks" ref={scroller}>
        {/* Only the rows in sight are in the document; the counts are those of all. */}
        <table className="tasks" aria-rowcount={shown.length + 1}>
          <thead>
            <tr aria-rowindex={1}>
              {COLUMNS.map(({ key, title, numeric }) => {
                const active = place.sort === key;
                return (
                  <th
                    key={key}
                    scope="col"
                    className={numeric ? "number" : ""}
                    aria-sort={active ? (place.descending ? "descending" : "ascending") : undefined}
                  >
                    <button
                      type="button"
                      className="plain"
                      onClick={() =>
                        navigate({ sort: key, descending: active ? !place.descending : numeric })
                      }
                    >
                      {title}
                      <span aria-hidden="true">{active ? (place.descending ? " ▾" : " ▴") : ""}</span>
                    </button>
                  </th>
                );
              })}
            </tr>
          </thead>
          <tbody>
            {before > 0 && <Spacer height={before} />}
            {shown.slice(first, end).map((task, i) => (
              <TaskRow key={`${task.environment} ${task.task}`} task={task} row={first + i + 2} />
            ))}
            {after > 0 && <Spacer height={after} />}
          </tbody>
        </table>
      </Scroller>
      {shown.length === 0 && (
        <p className="nothing">
          No task has all of these words.{" "}
          <button type="button" onClick={() => navigate({ filter: "" })}>
            Clear the filter
          </button>
        </p>
      )}
    </div>
  );
}

/** In place of rows that are out of sight. */
function Spacer({ height }: { height: number }) {
  return (
    // biome-ignore lint/a11y/noAriaHiddenOnFocusable: a table row without tabindex takes no focus
    <tr aria-hidden="true" className="spacer">
      <td colSpan={COLUMNS.length} style={{ height }} />
    </tr>
  );
}

/** `row` counts from 1, the head included. */
const TaskRow = memo(function TaskRow({ task, row }: { task: TaskSummary; row: number }) {
  const share = matchedShare(task);
  const open = (): void => goToTask(task.task, task.environment);
  return (
    // The link inside does the same for the keyboard; the row is a larger target for the mouse.
    <tr onClick={open} aria-rowindex={row}>
      <th scope="row">
        <button
          type="button"
          className="plain task-name"
          onClick={(event) => {
            event.stopPropagation();
            open();
          }}
        >
          {task.task}
        </button>
        <span className="description" title={task.description}>
          {task.description}
        </span>
      </th>
      <td className="number">{task.sources}</td>
      <td className="number">
        {task.successes} <Mark success />
      </td>
      <td className="number">
        {task.failures} <Mark success={false} />
      </td>
      <td className="number">{task.states}</td>
      <td className="number">
        {task.sharedStates}
        <span className="muted">
          {" "}
          ({task.states === 0 ? 0 : Math.round((100 * task.sharedStates) / task.states)} %)
        </span>
      </td>
      <td className="number">
        {task.episodes} <span className="muted">({task.episodesWon})</span>
      </td>
      <td className="number" title={`${task.matchedDecisions} of ${task.decisions} decisions`}>
        <span className="bar" aria-hidden="true">
          <span style={{ width: `${share * 100}%` }} />
        </span>
        {Math.round(share * 100)} %
      </td>
    </tr>
  );
});
