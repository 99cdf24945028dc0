/**
 * Which steps of runs of this page the student no longer has, because undo or *Revert* took them back. The runs keep
 * their curves: they were measured.
 */
import { create } from "zustand";
import { getRuns } from "../runs/runs-store.ts";

/** By run: the step after which it was taken back; 0 where nothing of it is left. A run that is not here was not. */
export const useTakenBack = create<Readonly<Record<string, number>>>(() => ({}));

/** The steps that a student has of runs of this page, by run. */
export type StudentSteps = Readonly<Record<string, number>>;

/** The student went from one state to another without training. */
export function studentWentBack(had: StudentSteps, has: StudentSteps): void {
  const { runs } = getRuns();
  useTakenBack.setState((before) => {
    const now: Record<string, number> = { ...before };
    for (const id of new Set([...Object.keys(had), ...Object.keys(has)])) {
      const kept = has[id] ?? 0;
      if (kept < (runs[id]?.figures.done ?? 0)) now[id] = kept;
      else delete now[id];
    }
    return now;
  }, true);
}

/** A run of the page has moved the student: whatever was taken back of it is there again. */
export function studentHasRun(id: string): void {
  useTakenBack.setState(({ [id]: _gone, ...rest }) => rest, true);
}

/** What is left of a run in the student, as the end of a sentence. */
export const takenBackText = (step: number): string =>
  step === 0
    ? "taken back: the student is as it was before this run"
    : `taken back to step ${step}: the student has no later one of this run`;
