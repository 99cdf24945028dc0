/** Whether the training form is open: it makes room for a run that it started. */
import { create } from "zustand";
import { useRuns } from "../../compute/runs/runs-store.ts";

export const useFormFold = create<{ open: boolean }>(() => ({ open: true }));

export const setFormOpen = (open: boolean): void => useFormFold.setState({ open });

useRuns.subscribe(({ latest, runs }, before) => {
  if (latest === null) return;
  if (latest !== before.latest) setFormOpen(false);
  // A run that failed before its first step is a form to be filled in otherwise.
  const isRefused = (of: typeof runs): boolean =>
    of[latest]?.state === "failed" && of[latest].figures.done === 0;
  if (isRefused(runs) && !isRefused(before.runs)) setFormOpen(true);
});
