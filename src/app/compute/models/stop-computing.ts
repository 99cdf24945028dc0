/** Ending what a model does: by asking, and where that is not heard with the worker that computes. */
import { computeWorker, endComputeWorker } from "./models.ts";

/** Milliseconds that a model has to stop by itself. */
const GRACE_MS = 1500;

/**
 * Asks what computes to stop, and ends its worker where it has not in time.
 *
 * @param goesOn whether what was to be stopped is still at it
 * @returns true where the worker was ended: what it was asked for never answers then
 */
export async function stopComputing(goesOn: () => boolean): Promise<boolean> {
  void computeWorker().then(({ api }) => api.abort());
  await new Promise((resolve) => setTimeout(resolve, GRACE_MS));
  if (!goesOn()) return false;
  endComputeWorker();
  return true;
}
