/** How the curves of runs are drawn: the same on every chart, for as long as the page is open. */
import { create } from "zustand";

/** Steps that a point can be the mean of. */
export const SMOOTHINGS = [1, 5, 10, 25, 50, 100] as const;

export const useChartOptions = create<{
  smoothing: (typeof SMOOTHINGS)[number];
  /** Runs of one config are drawn as their mean. */
  averaged: boolean;
  /** At which figures are read; null: the last one. */
  step: number | null;
  /** Figures whose charts were opened although they have nothing to say. */
  opened: readonly string[];
}>(() => ({ smoothing: 1, averaged: true, step: null, opened: [] }));

export function toggleOpened(key: string, isOpen: boolean): void {
  useChartOptions.setState(({ opened }) => ({
    opened: isOpen ? [...new Set([...opened, key])] : opened.filter((each) => each !== key),
  }));
}
