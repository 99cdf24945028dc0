/** What the training form says: kept outside the view, so that the key `u` and the button do the same. */
import { create } from "zustand";
import { METHOD_IDS, METHODS, type Stage } from "../../core/method/index.ts";
import { isOneOf } from "../../core/one-of.ts";
import type { LibrarySummary } from "../model.ts";
import { configField } from "../runs/config-fields.ts";
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
  texts: { method: "gc-opd" },
  nextId: newRunId("train"),
}));

export const trainingForm = useTrainingForm.getState;
export const setTrainingForm = useTrainingForm.setState;

/** Named values of the fields that decide how fast the student moves. Empty is the default of the config: the paper's. */
export const PRESETS = {
  paper: { batch_size: "", "settings.learning_rate": "" },
  /** For a tiny student and a few dozen episodes: a change can be seen after one step. */
  sample: { batch_size: "4", "settings.learning_rate": "1e-4" },
} as const;
export const PRESET_NAMES = ["paper", "sample"] as const;
export type PresetName = (typeof PRESET_NAMES)[number];

export function choosePreset(name: PresetName): void {
  setTrainingForm(({ texts }) => ({ texts: { ...texts, ...PRESETS[name] } }));
}

/** The preset whose values the form has; null where they are the user's own. */
export function presetOf({ texts }: Pick<TrainingForm, "texts">): PresetName | null {
  const value = (of: Readonly<Record<string, string>>, key: string) =>
    Number(of[key]?.trim() || configField(key).standard);
  const same = (name: PresetName): boolean =>
    Object.keys(PRESETS[name]).every((key) => value(texts, key) === value(PRESETS[name], key));
  return PRESET_NAMES.find(same) ?? null;
}

/** Episodes per step where none are typed: the paper's number, or all of the open library where it has fewer. */
export function defaultBatch({ data }: Pick<TrainingForm, "data">, library: LibrarySummary | null): number {
  const paper = Number(configField("batch_size").standard);
  const episodes = library?.tasks.reduce((sum, task) => sum + task.episodes, 0) ?? 0;
  return data === "files" || episodes === 0 ? paper : Math.min(paper, episodes);
}

/** The stages of the method that the form names; none where it is not one. */
export function formStages({ texts }: Pick<TrainingForm, "texts">): readonly Stage[] {
  const method = texts.method ?? "gc-opd";
  return isOneOf(METHOD_IDS, method) ? METHODS[method].stages : [];
}

export function setText(key: string, text: string): void {
  setTrainingForm(({ texts }) => ({ texts: { ...texts, [key]: text } }));
}
