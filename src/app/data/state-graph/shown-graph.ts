/** The graph that is on the screen, for keys that are pressed elsewhere on the page. */

export interface GraphControls {
  /** Around the middle; more than 1 is larger. */
  zoom(factor: number): void;
  /** All of the drawing, or as much as can be read. */
  fit(): void;
}

let shown: GraphControls | null = null;

/** Null where no graph is drawn. */
export const shownGraph = (): GraphControls | null => shown;

/** Makes a graph the shown one. Returns the undo. */
export function showGraph(controls: GraphControls): () => void {
  shown = controls;
  return () => {
    if (shown === controls) shown = null;
  };
}
