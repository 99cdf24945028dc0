/** What the training form says: kept outside the view, so that the key `u` and the button do the same. */
import { create } from "zustand";
import { METHOD_IDS, METHODS, type Stage } from "../../core/method/index.ts";
import { isOneOf } from "../../core/one-of.ts";
import type { Where } from "../runs/run.ts";
import { newRunId } from "../runs/runs-store.ts";

/** `files` are on the worker's disk; the others are of the library that is open. */
export const DATA_CHOICES = ["episode", "task", "library", "files"] as const;
export type DataChoice = (typeof DATA_CHOICES)[number];

export interface TrainingForm {
  where: Where;
  data: DataChoice;
  /** Epochs of each stage of the method, as they were typed. */
  passes: readonly string[];
  /** Keys of the config, as they were typed: empty or absent is the default. Paths and models are the worker's. */
  texts: Readonly<Record<string, string>>;
  /** Id of the next run on the worker: its folder, and so its command, are known before it starts. */
  nextId: string;
}

export const useTrainingForm = create<TrainingForm>(() => ({
  where: "page",
  data: "episode",
  passes: ["1", "1"],
  texts: { method: "gc-opd", batch_size: "4", "settings.learning_rate": "1e-4" },
  nextId: newRunId("train"),
}));

export const trainingForm = useTrainingForm.getState;
export const setTrainingForm = useTrainingForm.setState;

/** The stages of the method that the form names; none where it is not one. */
export function formStages({ texts }: Pick<TrainingForm, "texts">): readonly Stage[] {
  const method = texts.method ?? "gc-opd";
  return isOneOf(METHOD_IDS, method) ? METHODS[method].stages : [];
}

export function setText(key: string, text: string): void {
  setTrainingForm(({ texts }) => ({ texts: { ...texts, [key]: text } }));
}
