/** The collections and evaluations of this browser, newest first. */
import { useEffect, useLayoutEffect, useRef } from "react";
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
  /** The run whose item has the focus, or had it until its button went. */
  const focused = useRef<string | null>(null);
  // Before the browser draws: a button that was just disabled still has the focus.
  useLayoutEffect(() => {
    // Evaluate is disabled and Go on goes with the start, Cancel with the end: only the focus of these moves on, to the
    // run's title, where a key that is held down presses nothing.
    const of = playing ?? before.current;
    const isBegun = playing !== null && document.activeElement?.matches(":disabled") === true;
    if (playing !== before.current && (isBegun || (focused.current === of && isFocusFree())))
      list.current
        ?.querySelector<HTMLElement>(`[data-run="${of}"] h3`)
        ?.focus({ preventScroll: playing === null });
    before.current = playing;
  }, [playing]);
  return (
    <ul
      ref={list}
      className="live-run-list"
      onFocus={({ target }) => {
        focused.current = target.closest<HTMLElement>("[data-run]")?.dataset.run ?? null;
      }}
      onBlur={({ relatedTarget }) => {
        if (relatedTarget !== null) focused.current = null;
      }}
    >
      {newest.map((run) => (
        <LiveRunItem key={run.id} run={run} all={newest} />
      ))}
    </ul>
  );
}
