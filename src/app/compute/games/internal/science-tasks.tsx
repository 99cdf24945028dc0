/** Tasks of the worker's ScienceWorld: which ones, and which of their variations; or those of a list. */
import type { FormEvent } from "react";
import { countOf } from "../../../../core/plural.ts";
import { useRuns } from "../../runs/runs-store.ts";
import { openSimulatorTasks, useGames } from "../games.ts";
import { TaskListButton } from "../read-button.tsx";
import { useSimulatorProblem, variationTasks } from "../simulator.ts";
import { Count } from "./count.tsx";

export function ScienceTasks() {
  const problem = useSimulatorProblem();
  const simulator = useRuns(({ worker }) => worker.simulator);
  const busy = useGames(({ opening }) => opening !== null);
  if (simulator === null)
    return (
      <p className="note" role="status" data-testid="no-simulator">
        {problem}
      </p>
    );
  const open = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    void openSimulatorTasks(() =>
      variationTasks({
        name: String(form.get("task")),
        first: Number(form.get("first")),
        count: Number(form.get("count")),
        simplification: String(form.get("simplification")).trim(),
      }),
    );
  };
  const most = Math.max(1, ...simulator.tasks.map(({ variations }) => variations));
  return (
    <form className="make-games" aria-label="Open ScienceWorld’s tasks" onSubmit={open}>
      <label className="form-field">
        <span className="caption">Task</span>
        <select name="task" defaultValue="">
          <option value="">all {simulator.tasks.length} tasks</option>
          {simulator.tasks.map(({ name, variations }) => (
            <option key={name} value={name}>
              {name}, {countOf(variations, "variation")}
            </option>
          ))}
        </select>
      </label>
      <div className="make-row">
        <Count name="first" label="First variation" value={0} least={0} most={most - 1} />
        <Count name="count" label="Variations per task" value={1} most={most} />
      </div>
      <label className="form-field">
        <span className="caption">Simplifications</span>
        <input
          type="text"
          name="simplification"
          defaultValue="easy"
          pattern="[a-zA-Z,]*"
          title="Names as the simulator uses them, separated by commas; empty for none"
        />
      </label>
      <div className="open-buttons">
        <button type="submit" disabled={busy}>
          Open tasks
        </button>
        <TaskListButton
          environment="scienceworld"
          disabled={busy}
          onRead={({ tasks }) => void openSimulatorTasks(() => tasks)}
        />
      </div>
    </form>
  );
}
