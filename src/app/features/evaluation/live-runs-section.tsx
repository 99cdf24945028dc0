import { setPlayMode } from "../../compute/games/play-mode.ts";
import { navigate } from "../../data/navigate.ts";
import { LiveRunList, useLiveRunCount } from "./live-run-list.tsx";

/** What the page played in its own games: collections and evaluations; nothing while there are none. */
export function LiveRuns() {
  const count = useLiveRunCount();
  if (count === 0) return null;
  return (
    <section className="panel" aria-labelledby="live-runs-title">
      <div className="panel-head">
        <h2 id="live-runs-title">Collections and evaluations</h2>
        <button
          type="button"
          onClick={() => {
            setPlayMode("runs");
            navigate({ view: "play" }, "push");
          }}
        >
          Play another
        </button>
      </div>
      <div className="play-body">
        <LiveRunList />
      </div>
    </section>
  );
}
