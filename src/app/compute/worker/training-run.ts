/** The loop of the core, over the two workers: records and evidence from the library, models from here. */
import {
  type BatchTokens,
  configuredData,
  configuredEvaluation,
  type EnvironmentConfig,
  libraryContexts,
  liveData,
  probeRun,
  type RunProbe,
  runLengths,
  type StepWork,
  sampledLengths,
  type TextCodec,
  type TrainConfig,
  type TrainEvent,
  type TrainingData,
  type TrainingEvaluation,
  train,
  type Watch,
  watchedDecision,
} from "../../../core/loop/index.ts";
import type { Method } from "../../../core/method/index.ts";
import type { FolderReader, ScoreRequest, Scorer, StepSettings, Trainer } from "../../../core/ports.ts";
import { taskKey } from "../../../core/record/library.ts";
import type { Episode, Source } from "../../../core/record/schema.ts";
import { ModelTrainer } from "../../../engine/native/index.ts";
import type { FolderFiles } from "../../data/files/blob-folder.ts";
import type { TaskName, TaskRef } from "../../data/model.ts";
import { openTasks, playedAtOnce, templateOf } from "../games/internal/connected-games.ts";
import type { PickedPrompt } from "../runs/live-run.ts";
import { type FolderStore, KeptCheckpoints } from "./kept-checkpoints.ts";

/** Tasks of a live environment, and the settings under which they are played. */
export interface LiveTraining {
  environment: EnvironmentConfig;
  tasks: readonly string[];
  /** Distinguishes the games from others of the same names; absent until they are open. */
  games?: string;
  /** In place of the environment's own. */
  prompt?: PickedPrompt;
}

/** Decisions of open libraries that the student is looked at. */
export interface WatchPlan {
  /** Optimizer steps between two looks. */
  every: number;
  decisions: (TaskRef & { episode: string; decision: number; trained: boolean; taskTrained: boolean })[];
}

/** What is asked for, as plain data. */
export interface TrainingPlan {
  /** Its checkpoint is kept under this id: a plan of the same id goes on from there. */
  id: string;
  method: Method;
  settings: StepSettings;
  batchSize: number;
  seed: number;
  /** The open library whose records it reads: its id of this visit to the page. */
  library: string;
  /** Whether the planner records that came beside the library take part. */
  plans?: boolean;
  /** None where the student plays live. */
  episodes: (TaskName & { episode: string })[];
  /** What the student plays in place of recorded episodes; the games are open in the games worker. */
  live?: LiveTraining;
  /** Measures the student on fixed tasks of a live environment. */
  evaluation?: { measured: LiveTraining } & Pick<
    NonNullable<TrainConfig["evaluate"]>,
    "every" | "seeds" | "at_once"
  >;
  /** Plays the episodes' tasks again in place of reading their responses. */
  sample?: TrainConfig["sample"];
  /** Longest teacher prompt with its evidence; the environment's limit when absent. */
  evidenceTokens?: number;
  /** The end-of-turn token is appended to responses recorded as text. */
  endOfTurn: boolean;
  /** Steps between checkpoints; `CheckpointPace` when absent. */
  checkpointEvery?: number;
  /** What else decides the numbers, in words: a checkpoint of other inputs is refused by the names. */
  fingerprint: Record<string, string>;
  /** A decision whose probabilities are looked at after each step; null looks at none. */
  watch: ScoreRequest | null;
  /** Decisions that are looked at before, every few steps, and after. */
  watched?: WatchPlan;
}

export type RunEvent =
  | { type: "loop"; event: TrainEvent }
  | { type: "work"; work: StepWork }
  | { type: "watch"; step: number; logprobs: Float32Array }
  /** The browser keeps no checkpoint: the run cannot go on after the page. */
  | { type: "unkept"; reason: string }
  /** The best evaluated checkpoint had to make room for the newest. */
  | { type: "best-lost" };

/** Where the records come from. */
export interface RecordPort {
  episode(ref: TaskRef, episode: string): Promise<Episode>;
  sources(ref: TaskRef, which?: { plans?: boolean }): Promise<Source[]>;
}

export interface TrainingRun {
  plan: TrainingPlan;
  records: RecordPort;
  codec: TextCodec;
  /** Null where no stage asks one. */
  teacher: Scorer | null;
  student: Trainer;
  /** What the student is bit for bit before its first step, optimizer state included. */
  start: FolderFiles;
  /** Opens the device and the teacher again after the device failed. */
  reopen: () => Promise<Scorer | null>;
  /** Opens a kept student on the device as it is now; null: as it was before its first step. */
  openStudent: (checkpoint: FolderReader | null) => Promise<Trainer>;
  signal: AbortSignal;
  stop: AbortSignal;
  emit: (event: RunEvent) => void;
  onBatch: (batch: BatchTokens) => void;
  /** In place of the browser's, under the plan's id. */
  checkpoints?: FolderStore;
  /** In place of the plan's. */
  evaluation?: TrainingEvaluation;
  /** As `TrainOptions` has it. */
  keepLastBeside?: boolean;
}

/** D_x of a plan's tasks. */
const sourcesOf =
  ({ library, plans = false }: Pick<TrainingPlan, "library" | "plans">, records: RecordPort) =>
  (environment: string, task: string): Promise<Source[]> =>
    records.sources({ library, environment, task }, { plans });

async function trainingData(plan: TrainingPlan, records: RecordPort): Promise<TrainingData> {
  const episode = (name: TrainingPlan["episodes"][number]): Promise<Episode> =>
    records.episode({ ...name, library: plan.library }, name.episode);
  if (plan.live !== undefined) {
    const { environment, tasks, prompt } = plan.live;
    const digest = JSON.stringify(environment);
    const atOnce = await playedAtOnce(environment.name, tasks.length);
    const template = templateOf(environment.name, prompt);
    return liveData(openTasks(environment, tasks, template), { digest, seed: plan.seed, atOnce });
  }
  if (plan.sample !== undefined) {
    const episodes = await Promise.all(plan.episodes.map(episode));
    return configuredData({ sample: plan.sample, seed: plan.seed }, episodes);
  }
  return {
    unit: "episode",
    units: plan.episodes.map(({ episode }) => episode),
    tasks: plan.episodes.map(({ environment, task }) => taskKey(environment, task)),
    fresh: false,
    fingerprint: JSON.stringify(plan.episodes),
    episodes: (places) => Promise.all(places.map((place) => episode(plan.episodes[place]!))),
  };
}

async function trainingEvaluation({ measured, ...evaluate }: NonNullable<TrainingPlan["evaluation"]>) {
  const { environment, tasks } = measured;
  return configuredEvaluation(evaluate, {
    tasks: openTasks(environment, tasks),
    digest: JSON.stringify(environment),
    atOnce: await playedAtOnce(environment.name, evaluate.at_once),
  });
}

async function openWatch(
  { every, decisions }: WatchPlan,
  { records, codec }: Pick<TrainingRun, "records" | "codec">,
): Promise<Watch> {
  // A plan that an earlier version kept does not tell of the task.
  const opened = decisions.map(async ({ episode, decision, trained, taskTrained = trained, ...ref }) =>
    watchedDecision(await records.episode(ref, episode), decision, { codec, trained, taskTrained }),
  );
  return { every, decisions: await Promise.all(opened) };
}

/** The parts of a plan that its lengths depend on. */
export type PlanToMeasure = Pick<
  TrainingPlan,
  "method" | "library" | "plans" | "episodes" | "live" | "sample" | "evidenceTokens" | "endOfTurn" | "watched"
>;

/** The longest sequences that a run's models will read, in tokens. */
export async function trainingLengths(
  plan: PlanToMeasure,
  { records, codec, signal }: Pick<TrainingRun, "records" | "codec" | "signal">,
) {
  const { method, library, episodes, live, sample, evidenceTokens, watched } = plan;
  async function* each(): AsyncGenerator<Episode> {
    for (const name of episodes) yield await records.episode({ ...name, library }, name.episode);
  }
  const contexts = libraryContexts({
    sources: sourcesOf(plan, records),
    codec,
    ...(evidenceTokens === undefined ? {} : { limit: evidenceTokens }),
  });
  const environment = live?.environment;
  const sampled = sampledLengths({ sample, environment, evidence_tokens: evidenceTokens });
  const played = live?.tasks.map(() => live.environment.name);
  const watch = watched && (await openWatch(watched, { records, codec }));
  return runLengths({
    ...{ episodes: each(), played, stages: method.stages, contexts, codec, sampled, signal },
    watched: watch?.decisions,
  });
}

/** The parts of a plan that its time depends on. */
export type PlanToProbe = Omit<PlanToMeasure, "sample" | "live"> &
  Pick<TrainingPlan, "settings" | "batchSize">;

/** Does a small part of a run with a student that is thrown away. */
export function probeTraining(
  plan: PlanToProbe,
  run: Pick<TrainingRun, "records" | "codec" | "student" | "signal"> & {
    teacher: Scorer;
    tell: (what: string) => void;
  },
): Promise<RunProbe> {
  const { method, settings, batchSize, library, episodes, evidenceTokens } = plan;
  const { records, codec, teacher, student, signal, tell } = run;
  return probeRun({
    units: episodes.length,
    episode: (unit) => records.episode({ ...episodes[unit]!, library }, episodes[unit]!.episode),
    stages: method.stages,
    batchSize,
    contexts: libraryContexts({
      sources: sourcesOf(plan, records),
      codec,
      ...(evidenceTokens === undefined ? {} : { limit: evidenceTokens }),
    }),
    codec,
    settings,
    teacher,
    student,
    signal,
    onWork: tell,
  });
}

/**
 * Runs the plan, over failures of the device. The student that is given back is the one that was given, changed in place,
 * unless the device failed, and `folder` holds it, optimizer state included: a promise while that is written beside what
 * follows. When this throws, there is none.
 */
export async function runTraining(
  run: TrainingRun,
): Promise<{ student: Trainer; folder: FolderFiles | Promise<FolderFiles>; finished: boolean }> {
  const { plan, records, emit } = run;
  let { student } = run;
  const checkpoints =
    run.checkpoints ??
    new KeptCheckpoints(
      plan.id,
      (reason) => emit({ type: "unkept", reason }),
      () => emit({ type: "best-lost" }),
    );
  const evaluation = run.evaluation ?? (plan.evaluation && (await trainingEvaluation(plan.evaluation)));
  let opened = false;
  const look = async (step: number): Promise<void> => {
    if (plan.watch === null) return;
    const [result] = await student.score([plan.watch], { signal: run.signal });
    emit({ type: "watch", step, logprobs: result!.logprobs });
  };
  await look(0);
  const result = await train({
    method: plan.method,
    settings: plan.settings,
    batchSize: plan.batchSize,
    seed: plan.seed,
    data: await trainingData(plan, records),
    codec: run.codec,
    teacher: run.teacher,
    reopen: run.reopen,
    openStudent: async (checkpoint) => {
      if (opened) student = await run.openStudent(checkpoint);
      else if (checkpoint !== null) {
        // A run that goes on: from what it was, not from the student that is open.
        student.dispose();
        student = await run.openStudent(checkpoint);
      } else if (student instanceof ModelTrainer) await student.continueOptimizer();
      opened = true;
      return student;
    },
    contexts: libraryContexts({
      sources: sourcesOf(plan, records),
      codec: run.codec,
      ...(plan.evidenceTokens === undefined ? {} : { limit: plan.evidenceTokens }),
    }),
    sources: sourcesOf(plan, records),
    ...(evaluation === undefined ? {} : { evaluation }),
    ...(plan.watched === undefined ? {} : { watch: await openWatch(plan.watched, run) }),
    checkpoints,
    ...(run.keepLastBeside === undefined ? {} : { keepLastBeside: run.keepLastBeside }),
    ...(plan.checkpointEvery === undefined ? {} : { checkpointEvery: plan.checkpointEvery }),
    // Absent in f32, as in runs of earlier versions.
    fingerprint: {
      ...plan.fingerprint,
      ...(student.info.dtype === "f32" ? {} : { arithmetic: student.info.dtype }),
    },
    onBatch: run.onBatch,
    onEvent: async (event) => {
      emit({ type: "loop", event });
      if (event.type === "updated") await look(event.step);
    },
    onWork: (work) => emit({ type: "work", work }),
    signal: run.signal,
    stop: run.stop,
  });
  // A run ends with a checkpoint; one of no step leaves what it began with. Copying a large student takes longer than a step.
  const folder = (): FolderFiles => {
    const { newest } = checkpoints;
    return newest === null ? run.start : { ...newest, name: "student" };
  };
  const { kept, finished } = result;
  return { student: result.student, folder: kept === null ? folder() : kept.then(folder), finished };
}
