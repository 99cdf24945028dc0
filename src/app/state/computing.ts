import { getUi } from "./store.ts";

/** True while any model is at work: there is one device. */
export function isComputing(): boolean {
  const { scoring, training } = getUi();
  return scoring.status === "running" || scoring.status === "cancelling" || training.status !== "idle";
}
