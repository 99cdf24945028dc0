/** The tab's title names the place, so that tabs and the history can be told apart. */
import { useEffect } from "react";
import { useUi } from "../state/store.ts";

export function useTitle(): void {
  const place = useUi((ui) => ui.place);
  const { view, task, decision } = place;
  useEffect(() => {
    const here =
      view === "library" || view === "statistics" || task === null ? [] : [task, `decision ${decision}`];
    document.title = [...here, "GC-OPD Workbench"].join(" · ");
  }, [view, task, decision]);
}
