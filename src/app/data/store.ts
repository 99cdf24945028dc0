/**
 * What the page shows of records: the place, the open libraries, the task and the decision there. Records stay in their
 * worker. Layers above add their fields to the same store (compute/store.ts).
 */
import { create } from "zustand";
import type { Notice, Progress } from "../base/notice.ts";
import { HOME, type Place } from "../url/place.ts";
import type { DecisionModel, LibrarySummary, TaskModel } from "./model.ts";
import type { OpenLibrary } from "./open-libraries.ts";

export interface DataState {
  place: Place;
  placeProblems: string[];
  /** The open libraries, in the order in which they were opened. */
  libraries: readonly OpenLibrary[];
  /** The one that the place names, of those that are open; all that is shown is of it. */
  library: LibrarySummary | null;
  opening: Progress | null;
  notice: Notice | null;
  task: TaskModel | null;
  decision: DecisionModel | null;
  /** Why the task or the decision of the place cannot be shown. */
  viewProblem: string | null;
  hoveredState: number | null;
}

export const useData = create<DataState>(() => ({
  place: HOME,
  placeProblems: [],
  libraries: [],
  library: null,
  opening: null,
  notice: null,
  task: null,
  decision: null,
  viewProblem: null,
  hoveredState: null,
}));

export const setData = useData.setState;
export const getData = useData.getState;
