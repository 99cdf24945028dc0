/** The graph that is on the screen, for keys that are pressed elsewhere on the page. */
import { Shown } from "../../base/shown.ts";

export interface GraphControls {
  /** Around the middle; more than 1 is larger. */
  zoom(factor: number): void;
  /** All of the drawing, or as much as can be read. */
  fit(): void;
}

const graph = new Shown<GraphControls>();

/** Null where no graph is drawn. */
export const shownGraph = (): GraphControls | null => graph.present;

/** Makes a graph the shown one. Returns the undo. */
export const showGraph = (controls: GraphControls): (() => void) => graph.show(controls);
