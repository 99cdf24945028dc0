/** Where the tour of the sample is, and whether it was asked for. The shell shows it (shell/tour/). */
import { create } from "zustand";

const KEY = "gcopd-tour";

export const useTour = create<{ at: number | null; asked: boolean }>(() => ({ at: null, asked: false }));

/** Asks for the tour, from wherever one is. */
export const askForTour = (): void => useTour.setState({ asked: true });

/** That it was done is all that is remembered, where the browser lets a page remember. */
export function tourWasDone(): boolean {
  try {
    return localStorage.getItem(KEY) === "done";
  } catch {
    return false;
  }
}

export function rememberTour(): void {
  try {
    localStorage.setItem(KEY, "done");
  } catch {
    // A page that may not store anything offers the tour as new.
  }
}

export const endTour = (): void => useTour.setState({ at: null });
