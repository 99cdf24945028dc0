import { getUi, type UiState } from "./store.ts";

/** True while any model is at work: there is one device. */
export function isModelAtWork({ scoring, training, playing, liveRun, studying }: UiState): boolean {
  return (
    scoring.status === "running" ||
    scoring.status === "cancelling" ||
    training.status !== "idle" ||
    playing !== null ||
    liveRun !== null ||
    studying !== null
  );
}

export const isComputing = (): boolean => isModelAtWork(getUi());
