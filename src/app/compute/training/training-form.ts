/** What the training form says: kept outside the view, so that the key `u` and the button do the same. */
import { z } from "zod";
import { create } from "zustand";
import { configuredMethod, namedSchedule } from "../../../core/loop/configured-method.ts";
import { ENVIRONMENT_NAMES, type EnvironmentName } from "../../../core/loop/live-config.ts";
import { type TrainConfig, trainConfigSchema } from "../../../core/loop/train-config.ts";
import { METHOD_IDS, METHODS, type Method, methodSelection, type Stage } from "../../../core/method/index.ts";
import { isOneOf } from "../../../core/one-of.ts";
import type { Selection } from "../../../core/retrieval/selection.ts";
import { remember, rememberedAs } from "../../base/remembered.ts";
import type { LibrarySummary } from "../../data/model.ts";
import { navigate } from "../../data/navigate.ts";
import type { Place } from "../../url/place.ts";
import { controlsOf, NO_CONTROLS, selectionOf, selectionWords, whatIfWords } from "../../url/what-if.ts";
import { configField, configOf } from "../runs/config-fields.ts";
import { WHERES, type Where } from "../runs/run.ts";
import { newRunId } from "../runs/runs-store.ts";
import { getUi } from "../store.ts";

/** `files` are on the worker's disk; the others are of the library that is open. */
export const DATA_CHOICES = ["episode", "task", "library", "files"] as const;
export type DataChoice = (typeof DATA_CHOICES)[number];

/** What a step trains on: responses as they were recorded, sampled again over the recordings, or played live. */
export const RESPONSES = ["recorded", "sample", "live"] as const;
export type Responses = (typeof RESPONSES)[number];

/** Where live tasks come from: `open` are games of the page, `files` are on the worker's disk. */
export const GAMES_CHOICES = ["open", "made", "files", "server"] as const;
export type GamesChoice = (typeof GAMES_CHOICES)[number];

export interface TrainingForm {
  where: Where;
  /** Name of the worker's target where `where` says one. */
  target: string;
  /** Name of the next run on a target; empty for none. */
  name: string;
  data: DataChoice;
  games: GamesChoice;
  /** Epochs of each stage of the method, as they were typed. */
  passes: readonly string[];
  /** Keys of the config, as they were typed: empty or absent is the default. Paths and models are the worker's. */
  texts: Readonly<Record<string, string>>;
  /** Id of the next run on the worker: its folder, and so its command, are known before it starts. */
  nextId: string;
}

/** Where the tab keeps the form over a reload. */
const KEPT = "gcopd-training-form";
/** What is kept of it: the next run has an id of its own in every tab. An earlier version of the page may have kept another form. */
const keptSchema = z
  .object({
    ...{ where: z.enum(WHERES), target: z.string(), name: z.string(), data: z.enum(DATA_CHOICES) },
    ...{ games: z.enum(GAMES_CHOICES), passes: z.array(z.string()), texts: z.record(z.string(), z.string()) },
  })
  .partial();

export const useTrainingForm = create<TrainingForm>(() => ({
  where: "page",
  target: "",
  name: "",
  data: "episode",
  games: "open",
  passes: ["1", "1"],
  texts: { method: "gc-opd" },
  ...rememberedAs(KEPT, keptSchema, {}, "tab"),
  nextId: newRunId("train"),
}));
useTrainingForm.subscribe((form) => remember(KEPT, JSON.stringify(form), "tab"));

export const trainingForm = useTrainingForm.getState;
export const setTrainingForm = useTrainingForm.setState;

/** The choice of responses that the keys of the config mean. */
export function responsesOf({ texts }: Pick<TrainingForm, "texts">): Responses {
  if (texts.environment === "true") return "live";
  return texts.sample === "true" ? "sample" : "recorded";
}

export function chooseResponses(responses: Responses): void {
  setTrainingForm(({ texts }) => ({
    texts: {
      "environment.name": "alfworld",
      "environment.made.count": "32",
      "environment.made.seed": "0",
      ...texts,
      sample: responses === "sample" ? "true" : "",
      environment: responses === "live" ? "true" : "",
    },
  }));
}

/** The environments that a key of the config can name: of ScienceWorld, a page has no tasks but those that are open. */
export const environmentsAt = (where: Where, at: string): readonly EnvironmentName[] =>
  ENVIRONMENT_NAMES.filter((name) => where !== "page" || at === "environment" || name !== "scienceworld");

/** Where a live run's tasks can come from; the first is what holds where the form's own choice is none of them. */
export function gamesChoices({ where, texts }: Pick<TrainingForm, "where" | "texts">): GamesChoice[] {
  const name = texts["environment.name"];
  if (where === "page") return name === "scienceworld" ? ["open"] : ["open", "made"];
  if (name === "scienceworld") return ["files"];
  return name === "webshop" ? ["made", "files", "server"] : ["made", "files"];
}

/** The choice of games as it holds where the run is to be. */
export function gamesChoice(form: Pick<TrainingForm, "where" | "texts" | "games">): GamesChoice {
  const choices = gamesChoices(form);
  return choices.includes(form.games) ? form.games : choices[0]!;
}

/** Whether the student is measured in another environment than it plays in: a run over recordings plays in none. */
export const measuresElsewhere = ({ texts }: Pick<TrainingForm, "texts">): boolean =>
  responsesOf({ texts }) !== "live" || texts["evaluate.environment"] === "true";

/** Whether the games that it is measured on are on the worker's disk; else they are made. */
export const evaluationFiles = ({ where, texts }: Pick<TrainingForm, "where" | "texts">): boolean =>
  where !== "page" &&
  (texts["evaluate.environment.name"] === "scienceworld" || texts["evaluate.environment.made"] === "false");

/** What the fields of an evaluation begin with: made games that no made game of a training is. */
const EVALUATION = {
  "evaluate.every": "10",
  "evaluate.environment.name": "alfworld",
  "evaluate.environment.made.count": "8",
  "evaluate.environment.made.seed": "1000000",
} as const;

export function chooseEvaluation(on: boolean): void {
  setTrainingForm(({ texts }) => ({ texts: { ...EVALUATION, ...texts, evaluate: on ? "true" : "" } }));
}

/** Keys of the config that change what the method retrieves and retains. */
const SELECTION = {
  control: "",
  sources_per_task: "",
  augmentation: "",
  subset: "",
  terminal_failure_note: "",
} as const;
export type SelectionKey = keyof typeof SELECTION;
export const SELECTION_KEYS = Object.keys(SELECTION) as SelectionKey[];

const PAPER = { batch_size: "", "settings.learning_rate": "" } as const;

/** Named values of the form's fields. Empty is the default of the config: the paper's. */
export const PRESETS = {
  "gc-opd": { method: "gc-opd", ...PAPER },
  "gc-opd+ga": { method: "gc-opd+ga", ...PAPER },
  /** Defaults for any method. For a tiny student and a few dozen episodes: a change can be seen after one step. */
  sample: { batch_size: "4", "settings.learning_rate": "1e-4" },
} as const satisfies Record<string, Readonly<Record<string, string>>>;
export type PresetName = keyof typeof PRESETS;
export const PRESET_NAMES = Object.keys(PRESETS) as [PresetName, ...PresetName[]];

/** Takes a preset's values; the evidence is the method's own again, whatever the page shows elsewhere. */
export function choosePreset(name: PresetName): void {
  setTrainingForm(({ texts }) => ({ texts: { ...texts, ...SELECTION, ...PRESETS[name] } }));
  if (whatIfWords(controlsOf(getUi().place)).length > 0) navigate(NO_CONTROLS, "push");
}

/** The preset whose values the form has; null where they are the user's own. The evidence is not looked at. */
export function presetOf({ texts }: Pick<TrainingForm, "texts">): PresetName | null {
  const value = (of: Readonly<Record<string, string>>, key: string): string => {
    const { kind, standard } = configField(key);
    const text = of[key]?.trim() || standard;
    return kind === "choice" ? text : String(Number(text));
  };
  const same = (name: PresetName): boolean =>
    Object.keys(PRESETS[name]).every((key) => value(texts, key) === value(PRESETS[name], key));
  return PRESET_NAMES.find(same) ?? null;
}

/**
 * Episodes per step where none are typed: the paper's number, or all of the open library where it has fewer. Live tasks
 * are not of the library.
 */
export function defaultBatch(
  { data, texts }: Pick<TrainingForm, "data" | "texts">,
  library: LibrarySummary | null,
): number {
  const paper = Number(configField("batch_size").standard);
  if (responsesOf({ texts }) === "live") return paper;
  const episodes = library?.tasks.reduce((sum, task) => sum + task.episodes, 0) ?? 0;
  return data === "files" || episodes === 0 ? paper : Math.min(paper, episodes);
}

/** The method that the form names; null where it is not one. */
export function formMethod({ texts }: Pick<TrainingForm, "texts">): Method | null {
  const method = texts.method ?? "gc-opd";
  return isOneOf(METHOD_IDS, method) ? METHODS[method] : null;
}

/** Its stages; none where it is not one. */
export const formStages = (form: Pick<TrainingForm, "texts">): readonly Stage[] =>
  formMethod(form)?.stages ?? [];

/** What a stage's steps are called. */
export const stageWord = ({ name, evidence }: Pick<Stage, "name" | "evidence">): string =>
  evidence.kind === "none" ? name : "graph-conditioned";

/** What a stage's passes are called. */
export function stageTitle(stage: Stage): string {
  const word = stageWord(stage);
  return word.slice(0, 1).toUpperCase() + word.slice(1);
}

/** Whether a method is named by its file, which only commands read. */
const isFile = (method: TrainConfig["method"]): boolean =>
  typeof method === "string" && !isOneOf(METHOD_IDS, method);

const scheduleSchema = trainConfigSchema.pick({ method: true, stages: true });

/**
 * What a run retrieves and retains where the form's fields for it are empty: what the page asks for, and else what the
 * method or the form's own stages have. Null where no stage retrieves, or the stages are not valid.
 */
export function standardSelection({ texts }: Pick<TrainingForm, "texts">, place: Place): Selection | null {
  const { method = "", stages = "" } = texts;
  const named = scheduleSchema.safeParse(configOf({ method, stages }));
  const own = named.success && !isFile(named.data.method) ? methodSelection(namedSchedule(named.data)) : null;
  return own && { ...own, ...selectionOf(controlsOf(place)) };
}

/** The method of a run, and what was changed of its evidence: "gc-opd, changed: K = 4 sources per task". */
export function methodWords(config: TrainConfig): string {
  const own = methodSelection(namedSchedule(config));
  const taken = methodSelection(configuredMethod(config));
  const changes = own === null || taken === null ? [] : selectionWords(taken, own);
  const { method } = config;
  const name =
    config.stages !== undefined ? "stages of your own" : typeof method === "string" ? method : method.name;
  return changes.length === 0 ? name : `${name}, changed: ${changes.join(" · ")}`;
}

export function setText(key: string, text: string): void {
  setTrainingForm(({ texts }) => ({ texts: { ...texts, [key]: text } }));
}
