/** The config that the training form describes, from the form, the open library and models, and the what-if. */
import { isMade, MADE_KEYS, PRODUCTS } from "../../../core/environment/made-config.ts";
import { InputError } from "../../../core/errors.ts";
import { chosenTasks, type EnvironmentConfig, namedTasks } from "../../../core/loop/live-config.ts";
import { taskOrigin } from "../../../core/loop/task-origin.ts";
import type { TrainConfig } from "../../../core/loop/train-config.ts";
import { isOneOf } from "../../../core/one-of.ts";
import { keysOfSelection } from "../../../core/retrieval/selection-keys.ts";
import type { FileSummary, TaskName } from "../../data/model.ts";
import { controlsOf, selectionOf } from "../../url/what-if.ts";
import { useGames } from "../games/games.ts";
import { simulatorProblem } from "../games/simulator.ts";
import { memory } from "../models/memory.ts";
import { models } from "../models/models.ts";
import {
  type CheckedConfig,
  CONFIG_FIELDS,
  checkConfig,
  configField,
  configOf,
  readField,
} from "../runs/config-fields.ts";
import { getRuns, type WorkerState } from "../runs/runs-store.ts";
import { getUi, type UiState } from "../store.ts";
import { formProblems } from "./form-problems.ts";
import {
  defaultBatch,
  evaluationFiles,
  formMethod,
  formStages,
  type GamesChoice,
  gamesChoice,
  measuresElsewhere,
  responsesOf,
  type TrainingForm,
  trainingForm,
} from "./training-form.ts";
import { useHeldOut, watchOf } from "./training-held-out.ts";

/** Keys that only the worker knows: they are left out of runs in the page. */
export const WORKER_KEYS: readonly string[] = [
  ...["device", "cards", "compute", "keep_checkpoints", "keep_every", "first_epochs"],
  ...["environment.prompt", "evaluate.environment.prompt", "teacher_model", "calibrate_with"],
  ...CONFIG_FIELDS.map(({ key }) => key).filter((key) => /^(tinker|budget)\b/.test(key)),
];
/** Keys of recorded episodes: a live run has none. */
const EPISODE_KEYS = ["limit", "sample"] as const;
const PATH_KEYS = ["library", "episodes", "teacher", "student", "parent", "tokenizer"] as const;

/** Files of the page that the worker needs before the run. */
export interface ToSend {
  records: boolean;
  teacher: boolean;
  student: boolean;
}

export interface ComposedConfig extends CheckedConfig {
  /** As it is written: only what was chosen. */
  written: Record<string, unknown>;
  send: ToSend;
}

/** Ids of the episodes that a choice names; null for all of the library. */
function chosenIds({ data }: TrainingForm, { decision, task }: UiState): string[] | null {
  if (data === "episode") return decision === null ? [] : [decision.episode];
  if (data === "task")
    return task?.episodes.filter(({ decisions }) => decisions > 0).map(({ id }) => id) ?? [];
  return null;
}

/** The stages' epochs; null where they are the method's own. */
function epochs(form: TrainingForm): unknown[] | null {
  const { passes, texts } = form;
  if ((texts.stages ?? "").trim() !== "") return null;
  return formStages(form).map(({ epochs: own }, n) => {
    const typed = passes[n];
    // What a field of the schema would make of it.
    return typed === undefined || typed.trim() === "" ? own : readField(configField("seed"), typed);
  });
}

/** The config, checked as the command line checks it; what is wrong is said in the form's words. */
export function composeConfig(
  form: TrainingForm = trainingForm(),
  ui: UiState = getUi(),
  worker: WorkerState = getRuns().worker,
  openGames: readonly TaskName[] = useGames.getState().tasks,
): ComposedConfig {
  const onWorker = form.where !== "page";
  const live = responsesOf(form) === "live";
  const texts = Object.fromEntries(
    Object.entries(form.texts).filter(
      ([key]) =>
        !isOneOf(PATH_KEYS, key) &&
        (onWorker || !WORKER_KEYS.includes(key)) &&
        !(live && isOneOf(EPISODE_KEYS, key)),
    ),
  );
  const { paths, send } = onWorker ? workerPaths(form, ui, worker) : pageNames(ui);
  const ids = live || (form.data === "files" && onWorker) ? null : chosenIds(form, ui);
  const { weights, limitGib } = memory();
  const passes = epochs(form);
  const batch = defaultBatch(form, ui.library);
  const watch = watchOf(useHeldOut.getState(), ui.library?.id);
  if (formMethod(form)?.teacher === "student" && (form.texts.stages ?? "").trim() === "") {
    delete paths.teacher;
    send.teacher = false;
  }
  const { episodes: recorded, ...livePaths } = paths;
  const typed = configOf({ ...texts, ...gamesTexts(form, worker), ...evaluationTexts(form, worker) });
  if (live) typed.environment = withOpenTasks(form, openGames, typed.environment);
  const written = {
    ...(live ? livePaths : paths),
    ...(String(batch) === configField("batch_size").standard ? {} : { batch_size: batch }),
    ...keysOfSelection(selectionOf(controlsOf(ui.place))),
    ...(ui.place.endOfTurn ? {} : { end_of_turn: false }),
    // What the form says itself comes before what the page asks for.
    ...typed,
    ...(passes === null ? {} : { epochs: passes }),
    ...(weights === "f32" ? {} : { teacher_dtype: weights }),
    ...(limitGib === null ? {} : { memory_limit_gib: limitGib }),
    ...(ids === null ? {} : { episode_ids: ids }),
    // A run that plays live reads no episodes but these.
    ...(watch === undefined ? {} : { watch: live ? { episodes: recorded, ...watch } : watch }),
    ...(onWorker ? {} : { device: ui.device.kind === "cpu" ? "cpu" : "webgpu" }),
  };
  const check = ({ environment, evaluate }: TrainConfig): void => {
    if (!onWorker) {
      namedTasks({ ...environment });
      namedTasks({ ...evaluate }, "evaluate.tasks");
    }
    if (environment !== undefined) checkPlace(gamesChoice(form), environment, openGames, worker);
    if (evaluate?.environment !== undefined) checkEvaluationPlace(evaluate.environment, worker);
  };
  const { config, problems } = checkConfig(written, check);
  return { config, problems: formProblems(problems, texts), written, send };
}

/** The form's choice of games, as the switches and keys that belong to it. */
const gamesTexts = (form: TrainingForm, worker: WorkerState): Record<string, string> =>
  placeTexts("environment", form.texts, gamesChoice(form), worker);

/** The same of the games that the student is measured on, where they are not the run's own. */
const evaluationTexts = (form: TrainingForm, worker: WorkerState): Record<string, string> => ({
  ...placeTexts("evaluate.environment", form.texts, evaluationFiles(form) ? "files" : "made", worker),
  "evaluate.environment": measuresElsewhere(form) ? "true" : "",
});

/** Keys of an environment that only some choices of games have. */
const PLACE_KEYS = [
  ...Object.values(MADE_KEYS).flatMap((keys) => keys.map((key) => `made.${key}`)),
  ...["games", "simulator", "server", "server_settings"],
];

/** Keys that made games of the environment named at `at` have of their own; none where no games of it are made. */
export function madeKeysOf(at: string, texts: TrainingForm["texts"]): string[] {
  const name = texts[`${at}.name`] || "alfworld";
  if (!isMade(name)) return [];
  return MADE_KEYS[name]
    .filter((key) => key !== "world" || texts[`${at}.made.size`] === "mini")
    .map((key) => `made.${key}`);
}

/**
 * The switches of a choice of games, with the keys emptied that it has no use for, and the worker's own simulator where
 * none is named.
 */
function placeTexts(
  at: string,
  texts: TrainingForm["texts"],
  choice: GamesChoice,
  { simulator }: WorkerState,
): Record<string, string> {
  const name = texts[`${at}.name`];
  const own: Record<GamesChoice, readonly string[]> = {
    open: [],
    made: madeKeysOf(at, texts),
    files: name === "scienceworld" ? ["simulator"] : ["games"],
    server: ["server", "server_settings"],
  };
  const foreign = PLACE_KEYS.filter((key) => !own[choice].includes(key));
  const goals = ["first", "count"].some((key) => (texts[`${at}.goals.${key}`] ?? "").trim() !== "");
  const isNamed = (texts[`${at}.simulator`] ?? "").trim() !== "";
  return {
    ...(isNamed ? {} : { [`${at}.simulator`]: simulator?.file ?? "" }),
    ...Object.fromEntries(foreign.map((key) => [`${at}.${key}`, ""])),
    [`${at}.made`]: String(choice === "made"),
    [`${at}.goals`]: String(choice === "server" && goals),
  };
}

/** The environment, with the tasks of the open games where they are what is played and no others are named. */
function withOpenTasks(form: TrainingForm, openGames: readonly TaskName[], environment: unknown): unknown {
  if (gamesChoice(form) !== "open") return environment;
  const tasks = tasksOf(openGames, form.texts["environment.name"]);
  return tasks.length === 0 ? environment : { tasks, ...Object(environment) };
}

/** How many tasks a live run plays, as far as its config alone says it. */
export function liveUnits({ name, tasks, made }: EnvironmentConfig): number | null {
  // A file of the worker's may hold any number.
  if (typeof tasks === "string") return null;
  if (tasks !== undefined) return tasks.length;
  if (made === undefined) return null;
  return made.count * (name === "webshop" ? (made.products ?? PRODUCTS) : 1);
}

const tasksOf = (games: readonly TaskName[], environment: string | undefined): string[] =>
  games.filter((game) => game.environment === environment).map(({ task }) => task);

/** @throws InputError where a live run would have nothing to play */
function checkPlace(
  choice: GamesChoice,
  environment: EnvironmentConfig,
  openGames: readonly TaskName[],
  worker: WorkerState,
): void {
  const { name } = environment;
  if (choice === "open") {
    const open = tasksOf(openGames, name);
    const missing = name === "scienceworld" ? simulatorProblem(worker) : null;
    if (missing !== null) throw new InputError(missing, { key: "environment.name" });
    if (open.length === 0)
      throw new InputError(`no game of ${name} is open: open or make games in the Play view`, {
        key: "environment.tasks",
      });
    chosenTasks(environment, open);
    return;
  }
  taskOrigin(environment);
}

/** @throws InputError where the student would have nothing to be measured on, with the key */
function checkEvaluationPlace(environment: EnvironmentConfig, worker: WorkerState): void {
  try {
    checkPlace("made", environment, [], worker);
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    throw new InputError(error.reason, {
      ...error.where,
      key: `evaluate.${error.where.key ?? "environment"}`,
    });
  }
}

/** A path, or those of several files. */
type FilePaths = string | string[];

const NOTHING: ToSend = { records: false, teacher: false, student: false };

/** In the page: names, as they lie in the folders that they were opened from. */
function pageNames({ library, models: opened }: UiState): { paths: Record<string, FilePaths>; send: ToSend } {
  const of = (kind: FileSummary["kind"]) =>
    library?.files.filter((file) => file.kind === kind).map(({ name }) => name) ?? [];
  const [sources, episodes] = [of("sources"), of("episodes")];
  const origins = models.origins();
  const model = (role: "teacher" | "student") =>
    origins[role] === "sample" ? role : (opened[role]?.info.model ?? role);
  return {
    paths: {
      ...(sources.length === 0 ? {} : { library: named(sources) }),
      ...(episodes.length === 0 ? {} : { episodes: named(episodes) }),
      teacher: model("teacher"),
      student: model("student"),
      ...(origins.student === "sample" || origins.teacher === "sample" ? { tokenizer: "tokenizer" } : {}),
    },
    send: { ...NOTHING },
  };
}

/** Where a role's model lies on the worker's disk, when it was opened from there; else null. */
function modelOnDisk(role: "teacher" | "student", files: WorkerState["files"]): string | null {
  const path = models.opened(role)?.folder.shared ?? null;
  if (path === null || files?.shared == null) return null;
  return path === "" ? files.shared : `${files.shared}/${path}`;
}

/** On the worker: what the user typed, the worker's own copy of the sample, or what is sent into the job's folder. */
function workerPaths(
  { data, texts, nextId }: TrainingForm,
  { library, place }: UiState,
  { files }: WorkerState,
): { paths: Record<string, FilePaths>; send: ToSend } {
  const onDisk = library === null ? null : sharedPaths(library.files, place.disk, files?.shared ?? null);
  const typed = (key: (typeof PATH_KEYS)[number]) => texts[key]?.trim() ?? "";
  const sample = files?.sample ?? null;
  const inputs = `${files?.jobs ?? ""}/${nextId}/in`;
  const origins = models.origins();
  const send = { ...NOTHING };
  const paths: Record<string, FilePaths> = {};
  if (data === "files") {
    for (const key of ["library", "episodes"] as const) if (typed(key) !== "") paths[key] = typed(key);
  } else if (library?.link.library === "sample" && sample !== null) {
    paths.library = sample.library;
    paths.episodes = sample.episodes;
  } else if (onDisk !== null) {
    Object.assign(paths, onDisk);
  } else if (library !== null) {
    send.records = true;
    paths.library = `${inputs}/sources.jsonl`;
    paths.episodes = `${inputs}/episodes.jsonl`;
  }
  for (const role of ["teacher", "student"] as const) {
    if (typed(role) !== "") paths[role] = typed(role);
    else if (origins[role] === "sample" && sample !== null) paths[role] = sample[role];
    else if (origins[role] === "own" && modelOnDisk(role, files) !== null)
      paths[role] = modelOnDisk(role, files)!;
    else {
      send[role] = true;
      paths[role] = `${inputs}/${role}`;
    }
  }
  if (typed("parent") !== "") paths.parent = typed("parent");
  if (typed("tokenizer") !== "") paths.tokenizer = typed("tokenizer");
  // The sample's models bring no tokenizer of their own; a model that is sent brings it.
  else if (sample !== null && (paths.student === sample.student || paths.teacher === sample.teacher))
    paths.tokenizer = sample.tokenizer;
  return { paths, send };
}

/** Where the open library lies on the worker's disk, when it was opened from there file by file; else null. */
function sharedPaths(
  files: readonly FileSummary[],
  disk: readonly string[],
  shared: string | null,
): { library: FilePaths; episodes: FilePaths } | null {
  if (shared === null || disk.length !== files.length) return null;
  // Files are in the order in which they were opened. One that holds records of both kinds cannot be named.
  const same = files.every(({ name }, n) => disk[n] === name || disk[n]!.endsWith(`/${name}`));
  const root = shared.replace(/\/$/, "");
  const of = (kind: FileSummary["kind"]): string[] =>
    disk.filter((_, n) => files[n]!.kind === kind).map((path) => `${root}/${path}`);
  const [sources, episodes] = [of("sources"), of("episodes")];
  if (!same || sources.length === 0 || episodes.length === 0) return null;
  return { library: named(sources), episodes: named(episodes) };
}

/** As a config names files. */
function named(paths: string[]): FilePaths {
  return paths.length === 1 ? paths[0]! : paths;
}

/** The command that the worker will run, word by word. */
export function workerCommand(form: TrainingForm, worker: WorkerState): string[] {
  const folder = `${worker.files?.jobs ?? "…"}/${form.nextId}`;
  const files = ["--config", `${folder}/config.json`, "--out", `${folder}/out`];
  return ["gcopd", "train", ...files, "--progress", "json"];
}
