/** Every run, the one that is looked at, and those that are compared on one chart. */
import { type ReactNode, useDeferredValue } from "react";
import { WithRail } from "../../base/rail.tsx";
import { shownName } from "../../base/text/shown-text.ts";
import { ChartOptions, RunCharts } from "../../compute/run-card/run-charts.tsx";
import { RunDetail } from "../../compute/run-card/run-detail.tsx";
import type { Run } from "../../compute/runs/run.ts";
import { sortedRuns, useRuns, type WorkerState } from "../../compute/runs/runs-store.ts";
import { useUi } from "../../compute/store.ts";
import { navigate } from "../../data/navigate.ts";
import { RunList } from "./run-list.tsx";
import { TableControls } from "./run-table-controls.tsx";

/** `beside` comes below the runs: what other features have to show there. */
export function RunsView({ beside }: { beside: ReactNode }) {
  const { runs, worker, latest, restored } = useRuns();
  const { run: id, charted } = useUi((ui) => ui.place);
  const list = sortedRuns(runs);
  const shown = runs[id ?? latest ?? ""] ?? (id === null ? list[0] : undefined) ?? null;
  // Charts of long runs take a while: they follow when nothing else is to be drawn.
  const drawn = useDeferredValue(runs);
  const compared = charted.map((each) => drawn[each]).filter((run): run is Run => run !== undefined);
  const alone = shown === null ? undefined : drawn[shown.id];
  const onChart = compared.length > 0 ? compared : alone === undefined ? [] : [alone];
  const known = restored && worker.status !== "asking";
  const missing = [...(id === null ? [] : [id]), ...charted].filter((each) => runs[each] === undefined);
  return (
    <div className="training-view runs-view">
      <WithRail
        view="runs"
        controls={
          list.length === 0 ? (
            <p className="note">Groups, tags and how curves are drawn, once there is a run.</p>
          ) : (
            <>
              <TableControls runs={list} />
              <ChartOptions runs={onChart} />
            </>
          )
        }
      >
        <section className="panel" aria-labelledby="runs-title">
          <div className="panel-head">
            <h2 id="runs-title">Runs</h2>
            <WorkerLine worker={worker} />
          </div>
          {known && missing.length > 0 && (
            <p className="run-line error" role="alert" data-testid="run-missing">
              There is no run {missing.join(", ")} here: runs of the page are kept in the browser that they
              ran in, runs of the worker on its disk.
            </p>
          )}
          {list.length > 0 ? (
            <RunList runs={list} />
          ) : (
            <div className="note panel-note">
              {known ? "No run yet. " : "Reading the runs… "}
              <button type="button" onClick={() => navigate({ view: "training" }, "push")}>
                Set one up
              </button>
            </div>
          )}
        </section>
        {onChart.length > 0 && <RunCharts runs={onChart} />}
        {shown !== null && <RunDetail key={shown.id} run={shown} />}
        {beside}
      </WithRail>
    </div>
  );
}

function WorkerLine({ worker }: { worker: WorkerState }) {
  const texts: Record<WorkerState["status"], string> = {
    none: "No worker serves this page: `npm start` does",
    asking: "Asking the worker…",
    there: "Worker: ",
    lost:
      worker.problem === null
        ? "The worker does not answer; it is asked again"
        : `The worker’s answer was not taken, and it is asked again: ${shownName(worker.problem, 1000)}`,
  };
  return (
    <span className="note" data-testid="worker-line">
      {texts[worker.status]}
      {worker.status === "there" && <span data-measured>{worker.device}</span>}
    </span>
  );
}
