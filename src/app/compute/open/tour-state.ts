/** Where the tour of the sample is, and whether it was asked for. The shell shows it (shell/tour/). */
import { create } from "zustand";
import { remember, remembered } from "../../base/remembered.ts";

const KEY = "gcopd-tour";

export const useTour = create<{ at: number | null; asked: boolean }>(() => ({ at: null, asked: false }));

/** Asks for the tour, from wherever one is. */
export const askForTour = (): void => useTour.setState({ asked: true });

/** That it was done is all that is remembered. */
export const tourWasDone = (): boolean => remembered(KEY) === "done";
export const rememberTour = (): void => remember(KEY, "done");

export const endTour = (): void => useTour.setState({ at: null });
