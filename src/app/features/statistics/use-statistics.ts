/** The statistics of the shown library under the present controls, computed in the library worker. */
import * as Comlink from "comlink";
import { useEffect, useState } from "react";
import type { Selection } from "../../../core/retrieval/selection.ts";
import type { LibraryStatistics } from "../../../core/statistics/index.ts";
import { describeFault, isAbort } from "../../base/faults.ts";
import { libraryWorker } from "../../data/library-client.ts";
import type { LibrarySummary } from "../../data/model.ts";

export type StatisticsState =
  | { status: "running"; done: number }
  | { status: "done"; statistics: LibraryStatistics }
  | { status: "failed"; message: string };

/** What was counted already, for as long as its library is open. */
const known = new WeakMap<LibrarySummary, Map<string, LibraryStatistics>>();

/** The statistics under a selection. `tryAgain` counts them again after a failure. */
export function useStatistics(
  library: LibrarySummary,
  selection: Selection,
): { state: StatisticsState; tryAgain: () => void } {
  const key = JSON.stringify(selection);
  const [attempt, setAttempt] = useState(0);
  const [state, setState] = useState<StatisticsState>(() => {
    const statistics = known.get(library)?.get(key);
    return statistics === undefined ? { status: "running", done: 0 } : { status: "done", statistics };
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: another attempt counts again
  useEffect(() => {
    const counted = known.get(library) ?? new Map<string, LibraryStatistics>();
    known.set(library, counted);
    const before = counted.get(key);
    if (before !== undefined) {
      setState({ status: "done", statistics: before });
      return;
    }
    let current = true;
    setState({ status: "running", done: 0 });
    libraryWorker()
      .statistics(
        library.id,
        JSON.parse(key) as Selection,
        Comlink.proxy((done) => {
          if (current) setState((now) => (now.status === "running" ? { status: "running", done } : now));
        }),
      )
      .then(
        (statistics) => {
          counted.set(key, statistics);
          if (current) setState({ status: "done", statistics });
        },
        (error) => {
          if (current && !isAbort(error)) setState({ status: "failed", message: describeFault(error) });
        },
      );
    return () => {
      current = false;
      // Nobody waits for it any more.
      void libraryWorker().stopStatistics();
    };
  }, [library, key, attempt]);
  return { state, tryAgain: () => setAttempt((before) => before + 1) };
}
