/** What may begin beside what is going on: there is one device, and a student that is being kept only scores. */
import { InputError } from "../../core/errors.ts";
import { getUi, type TrainingState, type UiState } from "./store.ts";

/** Whether a run, or the probe of one, computes. */
export const isTraining = ({ status }: TrainingState): boolean => status !== "idle" && status !== "keeping";

/** True while any model computes: no scoring begins. A trained student that is being kept leaves the device free. */
export function isDeviceBusy({ scoring, training, playing, liveRun, studying }: UiState = getUi()): boolean {
  return (
    scoring.status === "running" ||
    scoring.status === "cancelling" ||
    isTraining(training) ||
    playing !== null ||
    liveRun !== null ||
    studying !== null
  );
}

/** Why nothing but scoring begins, in a few words; null where it may. */
export function whyAtWork(ui: UiState = getUi()): string | null {
  if (isDeviceBusy(ui)) return "a model is at work";
  return ui.training.status === "keeping" ? "the trained student is being kept" : null;
}

/** True while a model computes or is being kept: none is trained, opened, closed or changed. */
export const isModelAtWork = (ui?: UiState): boolean => whyAtWork(ui) !== null;

/** @throws InputError that says what has to end before; `then`: what is to be done, as in "then undo" */
export function checkAtRest(then: string): void {
  const why = whyAtWork();
  if (why !== null)
    throw new InputError(`${why}: ${isDeviceBusy() ? "stop it" : "wait until it is"}, then ${then}`);
}
