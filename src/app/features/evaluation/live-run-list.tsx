/** The collections and evaluations of this browser, newest first. */
import { useEffect } from "react";
import { LiveRunItem } from "./live-run-item.tsx";
import { useLiveRuns } from "./live-runs-store.ts";
import { tabLiveRuns } from "./tab-live-runs.ts";

/** How many there are; those of earlier visits are read first. */
export function useLiveRunCount(): number {
  useEffect(() => void tabLiveRuns.restore(), []);
  return useLiveRuns(({ runs }) => Object.keys(runs).length);
}

export function LiveRunList() {
  const runs = useLiveRuns((state) => state.runs);
  const newest = Object.values(runs).sort((a, b) => (a.created < b.created ? 1 : -1));
  return (
    <ul className="live-run-list">
      {newest.map((run) => (
        <LiveRunItem key={run.id} run={run} all={newest} />
      ))}
    </ul>
  );
}
