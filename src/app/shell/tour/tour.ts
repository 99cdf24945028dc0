/** Going through the tour, step by step. */

import { openSample } from "../../compute/open/open.ts";
import { endTour, rememberTour, useTour } from "../../compute/open/tour-state.ts";
import { getUi } from "../../compute/store.ts";
import { navigate } from "../../data/navigate.ts";
import { HOME } from "../../url/place.ts";
import { STEPS } from "./steps.ts";

/** Opens the sample if it is not open, and begins. Other libraries stay open beside it. */
export async function startTour(): Promise<void> {
  useTour.setState({ asked: false });
  const open = (): boolean => getUi().libraries.some(({ summary }) => summary.link.library === "sample");
  if (!open()) await openSample();
  if (open()) goToStep(0);
}

/** Goes to a step; past the last one the tour is done. */
export function goToStep(at: number): void {
  const step = STEPS[at];
  if (step === undefined) {
    rememberTour();
    endTour();
    return;
  }
  // A step of the tour is the whole place: no pin and no what-if of before.
  navigate({ ...HOME, library: "sample", ...step.place }, "push");
  useTour.setState({ at });
}
