/** The tab's title names the place, so that tabs and the history can be told apart. */
import { useEffect } from "react";
import { shownName } from "../base/text/shown-text.ts";
import { useUi } from "../compute/store.ts";

/** Milliseconds after which a place has a title. */
const REST = 120;

/** Draws nothing: a component of its own, so that a step does not draw the whole shell again. */
export function Title(): null {
  const place = useUi((ui) => ui.place);
  const { view, task, decision } = place;
  useEffect(() => {
    const here =
      view === "library" || view === "statistics" || view === "play" || task === null
        ? []
        : [shownName(task, 80), `decision ${decision}`];
    // Quick steps need no title each: the browser's own bar would be drawn as often.
    const timer = setTimeout(() => {
      document.title = [...here, "GC-OPD Workbench"].join(" · ");
    }, REST);
    return () => clearTimeout(timer);
  }, [view, task, decision]);
  return null;
}
