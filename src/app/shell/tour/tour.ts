/** Whether the tour is on, and at which step. */
import { create } from "zustand";
import { navigate } from "../../place/navigate.ts";
import { HOME } from "../../place/place.ts";
import { openSample } from "../../session/open.ts";
import { getUi } from "../../state/store.ts";
import { STEPS } from "./steps.ts";

const KEY = "gcopd-tour";

export const useTour = create<{ at: number | null }>(() => ({ at: null }));

/** That it was done is all that is remembered, where the browser lets a page remember. */
export function tourWasDone(): boolean {
  try {
    return localStorage.getItem(KEY) === "done";
  } catch {
    return false;
  }
}

function rememberDone(): void {
  try {
    localStorage.setItem(KEY, "done");
  } catch {
    // A page that may not store anything offers the tour as new.
  }
}

/** Opens the sample if it is not open, and begins. Other libraries stay open beside it. */
export async function startTour(): Promise<void> {
  const open = (): boolean => getUi().libraries.some(({ summary }) => summary.origin === "sample");
  if (!open()) await openSample();
  if (open()) goToStep(0);
}

/** Goes to a step; past the last one the tour is done. */
export function goToStep(at: number): void {
  const step = STEPS[at];
  if (step === undefined) {
    rememberDone();
    endTour();
    return;
  }
  // A step of the tour is the whole place: no pin and no what-if of before.
  navigate({ ...HOME, library: "sample", ...step.place }, "push");
  useTour.setState({ at });
}

export const endTour = (): void => useTour.setState({ at: null });
