/** The executions whose paths are drawn in colours of their own: at most six, each with a hue and a dash pattern. */

import { MOST_HIGHLIGHTS } from "../../url/place.ts";
import { visitOfElement } from "../compared-visits.ts";
import { navigate } from "../navigate.ts";
import { type DataState, getData } from "../store.ts";

/** By place in the list: a custom property with the hue, and the dashes of a line 3 pixels wide. */
export const HIGHLIGHTS = [
  { hue: "--hue-1", dash: "" },
  { hue: "--hue-2", dash: "9 4" },
  { hue: "--hue-3", dash: "3 3.5" },
  { hue: "--hue-4", dash: "14 4 3 4" },
  { hue: "--hue-5", dash: "6 3 2 3 2 3" },
  { hue: "--hue-6", dash: "18 6" },
] as const;

/** The execution of the row or the visit under the focus, else of the pinned visit. The student has no path of its own. */
export function sourceMeant({ place }: Pick<DataState, "place">): string | null {
  const focus = typeof document === "undefined" ? null : document.activeElement;
  const row = focus?.closest<HTMLElement>("[data-source]")?.dataset.source;
  if (row !== undefined) return row;
  const visit = visitOfElement(focus);
  if (visit !== null) return visit.kind === "source" ? visit.id : null;
  return place.visit?.source ?? null;
}

/** Adds an execution to those that are drawn, or takes it away; a seventh is not added. */
export function toggleHighlight(source: string): void {
  const { highlights } = getData().place;
  if (highlights.includes(source)) {
    navigate({ highlights: highlights.filter((each) => each !== source) });
  } else if (highlights.length < MOST_HIGHLIGHTS) {
    navigate({ highlights: [...highlights, source] });
  }
}
