/** Which task, which episode, which decision: shared by the task, tokens and training views. */
import { memo, type ReactNode, useMemo } from "react";
import { Mark, successWords } from "../../base/mark.tsx";
import { shownName } from "../../base/text/shown-text.ts";
import { visibleTasks, wholeColumns } from "../../data/library/sort-tasks.ts";
import type { TaskModel, TaskSummary } from "../../data/model.ts";
import { goToDecision, goToTask, navigate } from "../../data/navigate.ts";
import { shownColumns } from "../../data/open-libraries.ts";
import { useUi } from "../store.ts";
import { episodeAt } from "./follow-place.ts";

export function StepBar({
  task,
  children,
}: {
  task: TaskModel;
  /** Above the slider. */
  children?: ReactNode;
}) {
  const place = useUi((ui) => ui.place);
  const library = useUi((ui) => ui.library);
  const episode = episodeAt(task, place);
  const last = episode === null ? -1 : episode.decisions - 1;
  const current = episode?.cells[place.decision];
  return (
    <div className="step-bar panel">
      {children}
      <TaskMenu task={task} tasks={library?.tasks ?? NONE} />
      <label>
        <span className="caption">Student episode</span>
        <select
          value={episode?.id ?? ""}
          disabled={task.episodes.length === 0}
          onChange={(event) =>
            navigate(
              { episode: event.target.value, decision: 0, token: null, visit: null, part: null },
              "push",
            )
          }
        >
          {task.episodes.map((each) => (
            <option key={each.id} value={each.id}>
              {shownName(each.id.startsWith(task.task) ? each.id.slice(task.task.length) : each.id, 80)} ·{" "}
              {each.success === null ? "○ outcome unknown" : each.success ? "● succeeded" : "✕ did not"} ·{" "}
              {each.decisions} decisions
            </option>
          ))}
        </select>
      </label>
      {episode && last >= 0 && (
        <div className="stepper">
          <button
            type="button"
            aria-label="Previous decision"
            title="Previous decision (k)"
            disabled={place.decision <= 0}
            onClick={() => goToDecision(place.decision - 1)}
          >
            ◂ <span className="key">k</span>
          </button>
          <label>
            <span className="caption">
              Decision <output data-testid="decision">{place.decision}</output> of 0…{last}
            </span>
            <input
              type="range"
              min={0}
              max={last}
              value={Math.min(place.decision, last)}
              aria-label="Decision"
              onChange={(event) => goToDecision(Number(event.target.value))}
            />
          </label>
          <button
            type="button"
            aria-label="Next decision"
            title="Next decision (j)"
            disabled={place.decision >= last}
            onClick={() => goToDecision(place.decision + 1)}
          >
            <span className="key">j</span> ▸
          </button>
        </div>
      )}
      {current && (
        <p className="action-line">
          <Mark
            success={episode?.success ?? null}
            label={`episode ${successWords(episode?.success ?? null)}`}
          />{" "}
          <code>
            <bdi>
              {current.action === null
                ? "no action (malformed response)"
                : shownName(current.action) || "(blank)"}
            </bdi>
          </code>
          {current.status !== "executed" && (
            <span className="status">{current.status.replace("_", " ")}</span>
          )}
        </p>
      )}
    </div>
  );
}

const NONE: readonly TaskSummary[] = [];

/** A longer menu would take longer to open than the library's table. */
const MOST_LINES = 300;

/** The tasks in the library's order; in a large library, those around the current one. */
const TaskMenu = memo(function TaskMenu({
  task,
  tasks: all,
}: {
  task: TaskModel;
  tasks: readonly TaskSummary[];
}) {
  const sort = useUi((ui) => ui.place.sort);
  const descending = useUi((ui) => ui.place.descending);
  const whole = useUi((ui) => wholeColumns(shownColumns(ui)));
  const tasks = useMemo(
    () => visibleTasks(all, whole, { filter: "", sort, descending }),
    [all, whole, sort, descending],
  );
  const at = tasks.findIndex((each) => each.task === task.task && each.environment === task.environment);
  const first = Math.max(0, Math.min(at - MOST_LINES / 2, tasks.length - MOST_LINES));
  const shown = tasks.slice(first, first + MOST_LINES);
  const before = first;
  const after = tasks.length - first - shown.length;
  return (
    <label>
      <span className="caption">
        Task <span className="key">[</span> <span className="key">]</span>
      </span>
      <select
        value={at}
        onChange={(event) => {
          const next = tasks[Number(event.target.value)];
          if (next) goToTask(next.task, next.environment);
        }}
      >
        {before > 0 && <option disabled>… {before} before: see the library</option>}
        {shown.map((each, i) => (
          <option key={`${each.environment} ${each.task}`} value={first + i}>
            {shownName(each.task, 80)}
          </option>
        ))}
        {after > 0 && <option disabled>… {after} after: see the library</option>}
      </select>
    </label>
  );
});
