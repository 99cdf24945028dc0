/** One place in the header for everything that is running, wherever it was started: its progress, and a button that ends it. */
import { useRef } from "react";
import { shownText } from "../base/text/shown-text.ts";
import { useHub } from "../compute/hub/hub.ts";
import { useKeptModels } from "../compute/models/kept-models.ts";
import { useRuns } from "../compute/runs/runs-store.ts";
import { useUi } from "../compute/store.ts";
import { useSending } from "../compute/training/worker-training.ts";
import { useLiveRuns } from "../features/evaluation/live-runs-store.ts";
import { useWorkerCost } from "../features/training/worker-cost.ts";
import { type Task, tasksAtWork } from "./at-work.ts";

function useAtWork(): Task[] {
  const opening = useUi((ui) => ui.opening);
  const modelLoading = useUi((ui) => ui.modelLoading);
  const scoring = useUi((ui) => ui.scoring);
  const training = useUi((ui) => ui.training);
  const runs = useRuns((state) => state.runs);
  const scoreJobs = useRuns((state) => state.worker.scoreJobs);
  const playing = useUi((ui) => ui.playing);
  const liveRun = useUi((ui) => ui.liveRun);
  const studying = useUi((ui) => ui.studying);
  const liveRuns = useLiveRuns((state) => state.runs);
  const keeping = useKeptModels((state) => state.keeping);
  const [hub, sending, cost] = [useHub(), useSending(), useWorkerCost()];
  const ui = { opening, modelLoading, scoring, training, playing, liveRun, studying };
  return tasksAtWork({ ui, liveRuns, runs, scoreJobs, hub, keeping, sending, cost });
}

const described = ({ name, detail }: Task): string => shownText(detail === "" ? name : `${name}: ${detail}`);

export function AtWork() {
  const tasks = useAtWork();
  const menu = useRef<HTMLDetailsElement>(null);
  const counted = tasks.length === 0 ? "" : `${tasks.length} running`;
  const [first] = tasks;
  return (
    <>
      {/* Said when something begins or ends, not as it goes on. */}
      <span className="hidden-visually" role="status">
        {counted}
      </span>
      {first !== undefined && (
        <details
          className="at-work"
          data-testid="at-work"
          ref={menu}
          onKeyDown={(event) => {
            if (event.key !== "Escape" || !menu.current?.open) return;
            event.preventDefault();
            menu.current.open = false;
            menu.current.querySelector("summary")?.focus();
          }}
        >
          <summary id="at-work" title={described(first)}>
            <TaskProgress task={first} />
            <span>{counted}</span>
          </summary>
          <ul>
            {tasks.map((task) => (
              <li key={task.key}>
                <span>{described(task)}</span>
                <TaskProgress task={task} />
                {task.end !== null && (
                  <button
                    type="button"
                    aria-label={`${task.end.label}: ${shownText(task.name)}`}
                    onClick={task.end.run}
                  >
                    {task.end.label}
                  </button>
                )}
              </li>
            ))}
          </ul>
        </details>
      )}
    </>
  );
}

/** Without a value where nobody knows how much there is. */
function TaskProgress({ task: { name, done, total } }: { task: Task }) {
  return (
    <progress
      max={total || 1}
      value={total === 0 ? undefined : Math.min(done, total)}
      aria-label={shownText(name)}
    />
  );
}
