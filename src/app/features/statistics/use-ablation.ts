/** The ablation matrix of a library or of one task, computed in the library worker when it is asked for. */
import * as Comlink from "comlink";
import { useEffect, useState } from "react";
import type { AblationBase, AblationMatrix } from "../../../core/statistics/index.ts";
import { describeFault, isAbort } from "../../base/faults.ts";
import { libraryWorker } from "../../data/library-client.ts";
import type { LibrarySummary, TaskRef } from "../../data/model.ts";

export type AblationState =
  | { status: "idle" }
  | { status: "running"; share: number }
  | { status: "done"; matrix: AblationMatrix }
  | { status: "failed"; message: string };

/** What was computed already, for as long as its library is open. */
const known = new WeakMap<LibrarySummary, Map<string, AblationMatrix>>();

/** The matrix under the present choices. `compute` works it out, again where that failed. */
export function useAblation(
  library: LibrarySummary,
  task: TaskRef | null,
  base: AblationBase,
): { state: AblationState; compute: () => void; cancel: () => void } {
  const key = JSON.stringify([task, base]);
  // Another object each time: after a failure the same matrix is asked for again.
  const [asked, setAsked] = useState<{ key: string } | null>(null);
  const [state, setState] = useState<AblationState>({ status: "idle" });
  useEffect(() => {
    const computed = known.get(library) ?? new Map<string, AblationMatrix>();
    known.set(library, computed);
    const matrix = computed.get(key);
    if (matrix !== undefined) return setState({ status: "done", matrix });
    if (asked?.key !== key) return setState({ status: "idle" });
    let current = true;
    setState({ status: "running", share: 0 });
    const [of, under] = JSON.parse(key) as [TaskRef | null, AblationBase];
    libraryWorker()
      .ablation(
        library.id,
        of,
        under,
        Comlink.proxy((share) => {
          // The last word of progress may come after the result.
          if (current) setState((now) => (now.status === "running" ? { status: "running", share } : now));
        }),
      )
      .then(
        (found) => {
          computed.set(key, found);
          if (current) setState({ status: "done", matrix: found });
        },
        (error) => {
          if (current && !isAbort(error)) setState({ status: "failed", message: describeFault(error) });
        },
      );
    return () => {
      current = false;
      // Nobody waits for it any more.
      void libraryWorker().stopAblation();
    };
  }, [library, key, asked]);
  return { state, compute: () => setAsked({ key }), cancel: () => setAsked(null) };
}
