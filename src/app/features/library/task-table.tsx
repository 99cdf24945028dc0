/**
 * The tasks, sortable and filtered; a row opens its task. What sets the table is its head, a line and the titles of its
 * columns: a rail beside it would put columns out of sight.
 */

import { useEffect, useMemo, useRef, useState } from "react";
import { isOneOf } from "../../../core/one-of.ts";
import { taskKey } from "../../../core/record/library.ts";
import { useRowWindow } from "../../base/rows/use-row-window.ts";
import { Scroller } from "../../base/scroller.tsx";
import { scoredTasks } from "../../compute/scoring/scored-tasks.ts";
import { getUi, useUi } from "../../compute/store.ts";
import { isCounted, type ScoredTasks, visibleTasks, wholeColumns } from "../../data/library/sort-tasks.ts";
import { UNCOUNTED } from "../../data/library/task-columns.ts";
import { libraryWorker } from "../../data/library-client.ts";
import type { TaskColumns, TaskSummary } from "../../data/model.ts";
import { goToTask, navigate } from "../../data/navigate.ts";
import { shownColumns } from "../../data/open-libraries.ts";
import { type SortKey, SUBSETS, type Subset } from "../../url/place.ts";
import { selectionOf } from "../../url/what-if.ts";
import { TaskRow } from "./task-row.tsx";

/** Height of every row, in rem; library.css says the same. */
const ROW_HEIGHT = 3.25;

const COLUMNS: { key: SortKey; title: string; numeric: boolean }[] = [
  { key: "task", title: "Task", numeric: false },
  { key: "sources", title: "Executions", numeric: true },
  { key: "successes", title: "Succeeded", numeric: true },
  { key: "failures", title: "Did not", numeric: true },
  { key: "states", title: "States", numeric: true },
  { key: "shared", title: "Shared", numeric: true },
  { key: "episodes", title: "Episodes (won)", numeric: true },
  { key: "matched", title: "Decisions matched", numeric: true },
  { key: "fallback", title: "Fallbacks", numeric: true },
  { key: "delta", title: "Mean Δ", numeric: true },
];

const SUBSET_TITLES: Record<Subset, string> = {
  all: "all tasks",
  episodes: "with student episodes",
  successes: "with a success",
  "no-success": "without a success",
  fallback: "with fallbacks",
  scored: "with scored decisions",
};

export function TaskTable({ tasks }: { tasks: readonly TaskSummary[] }) {
  const place = useUi((ui) => ui.place);
  const { filter, show, sort, descending } = place;
  const columns = useUi(shownColumns);
  const scored = useScoredTasks();
  // Every batch of counts makes another object: only what depends on them follows.
  const needed = show === "fallback" ? columns : isCounted(sort) ? wholeColumns(columns) : null;
  const shown = useMemo(
    () => visibleTasks(tasks, needed, { filter, show, sort, descending }, scored),
    [tasks, needed, filter, show, sort, descending, scored],
  );
  const scroller = useRef<HTMLElement>(null);
  const { first, end, before, after } = useRowWindow(scroller, shown, ROW_HEIGHT);
  useWantedColumns(columns, shown, first, end);
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
            title="Enter opens the first task"
            onKeyDown={(event) => {
              const first = shown[0];
              if (event.key === "Enter" && first !== undefined) goToTask(first.task, first.environment);
            }}
            onChange={(event) => navigate({ filter: event.target.value })}
          />
        </label>
        <label className="subset">
          Show{" "}
          <select
            value={show}
            onChange={({ target }) => isOneOf(SUBSETS, target.value) && navigate({ show: target.value })}
          >
            {SUBSETS.map((subset) => (
              <option key={subset} value={subset}>
                {SUBSET_TITLES[subset]}
              </option>
            ))}
          </select>
        </label>
        <CountingNote tasks={tasks.length} sort={sort} />
        <span className="note" role="status">
          {shown.length === tasks.length
            ? `${tasks.length.toLocaleString("en")} tasks`
            : `${shown.length.toLocaleString("en")} of ${tasks.length.toLocaleString("en")} tasks`}
        </span>
      </div>
      <Scroller className="table-scroll edge-shadows" label="Tasks" ref={scroller}>
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
                      className="plain sorter"
                      onClick={() =>
                        navigate({ sort: key, descending: active ? !place.descending : numeric })
                      }
                    >
                      {title}
                      <span aria-hidden="true" className="order">
                        {active ? (place.descending ? " ▾" : " ▴") : ""}
                      </span>
                    </button>
                  </th>
                );
              })}
            </tr>
          </thead>
          <tbody>
            {before > 0 && <Spacer height={before} />}
            {shown.slice(first, end).map((task, i) => (
              <TaskRow
                key={`${task.environment} ${task.task}`}
                task={task}
                row={first + i + 2}
                states={columns?.states[task.place] ?? UNCOUNTED}
                shared={columns?.sharedStates[task.place] ?? UNCOUNTED}
                matched={columns?.matched[task.place] ?? UNCOUNTED}
                fallback={columns?.fallback[task.place] ?? UNCOUNTED}
                prompted={columns?.prompted[task.place] ?? UNCOUNTED}
                delta={scored.get(taskKey(task.environment, task.task)) ?? null}
              />
            ))}
            {after > 0 && <Spacer height={after} />}
          </tbody>
        </table>
      </Scroller>
      {shown.length === 0 && (
        <p className="nothing">
          {filter.trim() === "" ? "No task is" : "No task has all of these words"}
          {show !== "all" && ` ${filter.trim() === "" ? "" : "and is "}${SUBSET_TITLES[show]}`}.{" "}
          <button type="button" onClick={() => navigate({ filter: "", show: "all" })}>
            Show all tasks
          </button>
        </p>
      )}
    </div>
  );
}

/** Mean Δ of what was scored here, under the evidence that the place asks for. */
function useScoredTasks(): ScoredTasks {
  const scores = useUi((ui) => ui.scores);
  const place = useUi((ui) => ui.place);
  const library = useUi((ui) => ui.library?.id ?? null);
  return useMemo(
    () => scoredTasks(scores, { selection: selectionOf(place), endOfTurn: place.endOfTurn }, library),
    [scores, place, library],
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

/** Milliseconds of rest after which the rows in sight are asked for. */
const REST = 120;

/** Asks for the counts of the rows in sight that have none. */
function useWantedColumns(
  columns: TaskColumns | null,
  shown: readonly TaskSummary[],
  first: number,
  end: number,
): void {
  const open = columns !== null && columns.counted < columns.states.length;
  useEffect(() => {
    if (!open) return;
    const timer = setTimeout(() => {
      const ui = getUi();
      const now = shownColumns(ui);
      const places = shown.slice(first, end).map(({ place }) => place);
      const wanted = places.filter((place) => now?.states[place] === UNCOUNTED);
      if (wanted.length > 0 && ui.library !== null) void libraryWorker().countColumns(ui.library.id, wanted);
    }, REST);
    return () => clearTimeout(timer);
  }, [open, shown, first, end]);
}

/** How far the counted columns are, while they are not whole. */
function CountingNote({ tasks, sort }: { tasks: number; sort: SortKey }) {
  const columns = useUi(shownColumns);
  const library = useUi((ui) => ui.library?.id ?? "");
  const remote = useUi((ui) => ui.library?.remote ?? false);
  const bytes = useUi((ui) => ui.library?.bytes ?? 0);
  const [asked, setAsked] = useState(false);
  if (columns === null) return null;
  const { counted, brokeOff } = columns;
  const problem = brokeOff ?? columns.problem;
  const goesOn = (!remote || asked) && brokeOff === null;
  return (
    <>
      {counted < tasks && (
        <span className="note counting" data-testid="counting">
          {goesOn && <progress max={tasks} value={counted} aria-label="Counting states" />}
          States counted in {counted.toLocaleString("en")} of {tasks.toLocaleString("en")} tasks
          {isCounted(sort) && ": sorted when all are"}
          {remote && !goesOn && (
            <button
              type="button"
              title={`Downloads all ${Math.round(bytes / 1e6)} MB once`}
              onClick={() => {
                setAsked(true);
                void libraryWorker().countAllColumns(library);
              }}
            >
              Count all ({Math.round(bytes / 1e6)} MB)
            </button>
          )}
        </span>
      )}
      {problem !== null && (
        <span className="fault" role="alert" data-testid="unreadable">
          {problem}
        </span>
      )}
    </>
  );
}
