/** Collections and evaluations in the open games: what to play, how far it is, and what came of it. */
import { useEffect } from "react";
import { useLiveRuns } from "../../session/live-runs-store.ts";
import { restoreLiveRuns } from "../../session/tab-live-runs.ts";
import { LiveRunForm } from "./live-run-form.tsx";
import { LiveRunItem } from "./live-run-item.tsx";

export function LiveRunsPanel() {
  const runs = useLiveRuns((state) => state.runs);
  useEffect(() => void restoreLiveRuns(), []);
  const newest = Object.values(runs).sort((a, b) => (a.created < b.created ? 1 : -1));
  return (
    <section className="panel live-runs" aria-labelledby="live-runs-title">
      <div className="panel-head">
        <h2 id="live-runs-title">Collect and evaluate</h2>
      </div>
      <div className="play-body">
        <LiveRunForm />
        <ul className="live-run-list">
          {newest.map((run) => (
            <LiveRunItem key={run.id} run={run} all={newest} />
          ))}
        </ul>
        {newest.length === 0 && (
          <p className="note hint">
            An evaluation plays each task once for each seed and shows the success rate, score and rounds. A
            collection plays each task K times, replays every execution, and makes a library of them. What has
            ended is kept in this browser until you remove it.
          </p>
        )}
      </div>
    </section>
  );
}
