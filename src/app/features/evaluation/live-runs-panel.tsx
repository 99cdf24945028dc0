/** Collections and evaluations in the open games: what to play, how far it is, and what came of it. */
import { LiveRunForm } from "./live-run-form.tsx";
import { LiveRunList, useLiveRunCount } from "./live-run-list.tsx";

export function LiveRunsPanel() {
  const count = useLiveRunCount();
  return (
    <section className="panel live-runs" aria-labelledby="live-runs-title">
      <div className="panel-head">
        <h2 id="live-runs-title">Collect and evaluate</h2>
      </div>
      <div className="play-body">
        <LiveRunForm />
        <LiveRunList />
        {count === 0 && (
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
