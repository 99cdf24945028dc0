/** Actions on the state graph of the task view: what is seen of it, and whose paths are drawn. */

import { type Action, aTask, type Blocked, needs } from "../../compute/action.ts";
import { getUi, type UiState } from "../../compute/store.ts";
import { ZOOM_STEP } from "../../data/state-graph/graph-view.ts";
import { sourceMeant, toggleHighlight } from "../../data/state-graph/highlights.ts";
import { shownGraph } from "../../data/state-graph/shown-graph.ts";
import { MOST_HIGHLIGHTS } from "../../url/place.ts";

const theGraph: Blocked = needs(aTask, ({ place }) =>
  place.view !== "task" || shownGraph() === null ? "the graph is on the task view" : null,
);

/** An execution is meant, and it can be drawn or taken off. */
function anExecution(ui: UiState): string | null {
  const source = sourceMeant(ui);
  if (source === null) return "go to an execution’s row or pin a visit of it first";
  const { highlights } = ui.place;
  return highlights.length === MOST_HIGHLIGHTS && !highlights.includes(source)
    ? `${MOST_HIGHLIGHTS} paths are drawn: take one off first`
    : null;
}

function zoom(id: string, title: string, keys: readonly string[], factor: number): Action {
  return {
    id,
    title,
    group: "Graph",
    keys,
    words: "larger smaller",
    blocked: theGraph,
    run: () => shownGraph()?.zoom(factor),
  };
}

export const GRAPH: readonly Action[] = [
  {
    id: "highlight-path",
    title: "Draw this execution’s path, or take it off",
    group: "Graph",
    keys: ["p"],
    words: "highlight colour source",
    blocked: needs(theGraph, anExecution),
    run: () => {
      const source = sourceMeant(getUi());
      if (source !== null) toggleHighlight(source);
    },
  },
  zoom("graph-larger", "Zoom into the state graph", ["+", "="], ZOOM_STEP),
  zoom("graph-smaller", "Zoom out of the state graph", ["-"], 1 / ZOOM_STEP),
  {
    id: "graph-fit",
    title: "Fit the state graph",
    group: "Graph",
    keys: ["0"],
    words: "zoom all whole",
    blocked: theGraph,
    run: () => shownGraph()?.fit(),
  },
];
