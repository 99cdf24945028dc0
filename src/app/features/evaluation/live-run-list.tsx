/** The collections and evaluations of this browser, newest first. */
import { useEffect, useRef } from "react";
import { isFocusFree } from "../../base/use-focus-back.ts";
import { useUi } from "../../compute/store.ts";
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
  const playing = useUi((ui) => ui.liveRun);
  const newest = Object.values(runs).sort((a, b) => (a.created < b.created ? 1 : -1));
  const list = useRef<HTMLUListElement>(null);
  const before = useRef(playing);
  useEffect(() => {
    // The button that started it is disabled, and the one that cancels it goes with its end.
    const of = playing ?? before.current;
    if (playing !== before.current && isFocusFree())
      list.current
        ?.querySelector<HTMLElement>(`[data-run="${of}"] button:enabled`)
        ?.focus({ preventScroll: playing === null });
    before.current = playing;
  }, [playing]);
  return (
    <ul ref={list} className="live-run-list">
      {newest.map((run) => (
        <LiveRunItem key={run.id} run={run} all={newest} />
      ))}
    </ul>
  );
}
