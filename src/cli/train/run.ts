/** One training job of the command line: files, devices and checkpoints around the loop of `src/core/loop`. */
import { existsSync } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { InputError } from "../../core/errors.ts";
import {
  chosenEpisodes,
  configuredData,
  configuredMethod,
  configuredSettings,
  libraryContexts,
  probeRun,
  type RunProbe,
  type RunWork,
  runLengths,
  type StepWork,
  sampledLengths,
  type TextCodec,
  type TrainConfig,
  type TrainEvent,
  type TrainOptions,
  type TrainResult,
  train,
} from "../../core/loop/index.ts";
import type { Scorer } from "../../core/ports.ts";
import { taskKey } from "../../core/record/library.ts";
import { readRecords } from "../../core/record/read.ts";
import type { Episode, Source } from "../../core/record/schema.ts";
import { sha256Hex } from "../../core/seeded.ts";
import { openModelFolder, parseHubName } from "../../engine/hub/node.ts";
import { onFile } from "../../engine/webgpu/file-error.ts";
import { type PassOptions, planTraining } from "../../engine/webgpu/index.ts";
import { openFolder } from "../../engine/webgpu/node-folder.ts";
import { checkPlan, describePlan, type MemoryPlan } from "../../tensor/index.ts";
import { checkSameTokenizer, checkTokenizerFits, openTokenizer, textCodec } from "../../text/index.ts";
import { lockFolder } from "../../worker/lock.ts";
import { type Compute, openCompute } from "../engine/compute.ts";
import { limitBytes } from "../engine/memory-options.ts";
import { saveModel } from "../engine/save-model.ts";
import { openIndexedFile } from "../indexed-file.ts";
import { openBytes, writeOut } from "../io.ts";
import { writeBatch } from "./batch-file.ts";
import { DiskCheckpoints } from "./checkpoints.ts";
import { EventLog } from "./event-log.ts";
import { fileDigest, modelDigest } from "./fingerprint.ts";

/** What `--plan` tells. */
export interface ToldPlan {
  plan: MemoryPlan;
  /** Tokens of the longest pass. */
  passes: { teacher?: number; student: number };
  work: RunWork & { steps: number };
  device: { kind: "webgpu" | "cpu"; adapter: string | null };
  /** Why the run would be refused; null when it fits, as far as the limits are known. */
  problem: string | null;
  /** What was measured of its time; null where that was not asked for, or cannot be known. */
  probe: RunProbe | null;
}

export interface TrainingRun {
  /** Checked, with absolute paths: see `readTrainConfig`. */
  config: TrainConfig;
  /** Its file, for messages. */
  configFile: string;
  /** Output folder: checkpoints, events, metrics, and the student at the end. */
  out: string;
  onEvent: (event: TrainEvent) => void;
  onWork?: (work: StepWork) => void;
  /** Bytes of models of the hub, while they are downloaded. */
  onDownload?: (state: { done: number; total: number }) => void;
  onNote: (note: string) => void;
  /** Tells the plan and ends, without an output folder. */
  planOnly?: (told: ToldPlan) => void;
  /** The plan is told with the time of the run, of which a small part is done. */
  probe?: boolean;
  /** Aborts inside a step. */
  signal?: AbortSignal;
  /** Ends after the current step. */
  stop?: AbortSignal;
}

/**
 * Runs or continues a training job.
 *
 * @returns false when it was stopped before its end
 * @throws InputError for bad input, for an output folder that is in use, and for checkpoints of another run
 */
export async function runTraining(given: TrainingRun): Promise<boolean> {
  const run = { ...given, config: await withLocalModels(given) };
  const { config } = run;
  const method = configuredMethod(config);
  const episodes = await readEpisodes(config);
  const codec = await runTokenizer(run);
  const sources = await openSources(config, episodes);
  const inputs = { method, episodes, codec, sources: sources.read };
  try {
    if (run.planOnly !== undefined) return await tellPlan(run, inputs, run.planOnly);
    return await trainInFolder(run, inputs);
  } finally {
    await sources.close();
  }
}

/** The config with folders in place of models of the hub, which are downloaded where they are not there yet. */
async function withLocalModels({
  config,
  onNote,
  onDownload = () => undefined,
  signal,
}: TrainingRun): Promise<TrainConfig> {
  const local = async (path: string): Promise<string> =>
    parseHubName(path) === null
      ? path
      : (await openModelFolder(path, { signal, onProgress: onDownload, onNote })).name;
  return { ...config, teacher: await local(config.teacher), student: await local(config.student) };
}

interface TrainingInputs {
  method: ReturnType<typeof configuredMethod>;
  episodes: readonly Episode[];
  codec: RunTokenizer;
  sources: TaskSources["read"];
}

async function tellPlan(
  run: TrainingRun,
  inputs: TrainingInputs,
  tell: NonNullable<TrainingRun["planOnly"]>,
): Promise<boolean> {
  const { config, onNote } = run;
  const { device, compute, cards } = config;
  const opened = await openCompute({ device, compute, cards, onNote });
  try {
    const { plan, teacher, student, work } = await plannedRun(run, inputs, opened);
    const batches = Math.ceil(work.episodes / config.batch_size);
    const problem = problemOf(() =>
      checkPlan(plan, limitBytes(config.memory_limit_gib), opened.device.largestBuffer),
    );
    const passes = { teacher: { ...teacher, plan }, student: { ...student, plan } };
    const probed = run.probe === true && problem === null && config.sample === undefined;
    tell({
      plan,
      passes: { teacher: teacher?.packTokens, student: student.packTokens },
      work: { ...work, steps: work.epochs * batches },
      device: { kind: opened.kind, adapter: opened.adapter },
      problem,
      probe: probed ? await probeOn(opened, run, inputs, passes) : null,
    });
    return true;
  } finally {
    opened.close();
  }
}

/** Does a small part of the run with models of its own: nothing is written. */
async function probeOn(
  opened: Compute,
  { config, onNote, signal }: TrainingRun,
  { method, episodes, codec, sources }: TrainingInputs,
  passes: { teacher: PassOptions; student: PassOptions },
): Promise<RunProbe> {
  const weights = config.teacher_dtype;
  const teacher = await opened.openScorer(config.teacher, { weights, ...passes.teacher, signal });
  try {
    codec.fits({ name: config.teacher, vocabulary: teacher.info.vocabulary });
    const student = await opened.openTrainer(config.student, {
      optimizer: "ignore",
      ...passes.student,
      signal,
    });
    try {
      codec.fits({ name: config.student, vocabulary: student.info.vocabulary });
      return await probeRun({
        units: episodes.length,
        episode: async (unit) => episodes[unit]!,
        stages: method.stages,
        batchSize: config.batch_size,
        contexts: libraryContexts({ sources, codec: codec.codec, limit: config.evidence_tokens }),
        codec: codec.codec,
        settings: configuredSettings(config),
        teacher,
        student,
        signal,
        onWork: (what) => onNote(`probe: ${what}`),
      });
    } finally {
      student.dispose();
    }
  } finally {
    teacher.dispose();
  }
}

/** The message of a refusal, or null. */
function problemOf(check: () => void): string | null {
  try {
    check();
    return null;
  } catch (error) {
    if (error instanceof InputError) return error.message;
    throw error;
  }
}

/** What the run will need of the device, with the lengths of what its models will read. */
async function plannedRun(
  { config, signal }: TrainingRun,
  { method, episodes, codec: { codec }, sources }: TrainingInputs,
  { device }: Compute,
) {
  const { work, ...lengths } = await runLengths({
    episodes,
    stages: method.stages,
    contexts: libraryContexts({ sources, codec, limit: config.evidence_tokens }),
    codec,
    sampled: sampledLengths(config, episodes),
    signal,
  });
  const planned = await planTraining(device, {
    teacher: { folder: openFolder(config.teacher), weights: config.teacher_dtype, ...lengths.teacher },
    student: { folder: openFolder(config.student), ...lengths.student },
    limit: limitBytes(config.memory_limit_gib),
  });
  return { ...planned, work };
}

/** The run itself, once everything that it reads is open. */
async function trainInFolder(run: TrainingRun, inputs: TrainingInputs): Promise<boolean> {
  const { method, episodes, codec, sources } = inputs;
  const { config, out } = run;
  // The outermost folder that this run makes: taken away again when the run fails before its first event.
  const made = await onFile(out, "write", mkdir(out, { recursive: true }));
  let started = false;
  const unlock = lockFolder(
    join(out, "lock.sqlite"),
    new InputError("another run works in this folder: wait for it or choose another --out", { file: out }),
  );
  const log = new EventLog(join(out, "events.jsonl"), join(out, "metrics.jsonl"));
  try {
    await writeOut(join(out, "config.json"), [`${JSON.stringify(config, null, 2)}\n`]);
    return await withModels(run, inputs, async ({ teacher, reopen, openStudent, fingerprint }) => {
      const result = await train({
        method,
        settings: configuredSettings(config),
        batchSize: config.batch_size,
        seed: config.seed,
        data: configuredData(config, episodes),
        codec: codec.codec,
        teacher,
        reopen,
        openStudent,
        contexts: libraryContexts({ sources, codec: codec.codec, limit: config.evidence_tokens }),
        checkpoints: new DiskCheckpoints(join(out, "checkpoints"), config.keep_checkpoints),
        checkpointEvery: config.checkpoint_every,
        fingerprint: {
          ...fingerprint,
          ...(config.library === undefined ? {} : { library: await fileDigest(config.library) }),
          evidence_tokens: sha256Hex(String(config.evidence_tokens ?? "")),
        },
        onEvent: (event) => {
          started = true;
          log.write(event);
          run.onEvent(event);
        },
        onBatch: (batch) => writeBatch(join(out, "batch.jsonl"), batch, codec.codec),
        onWork: run.onWork,
        signal: run.signal,
        stop: run.stop,
      });
      return finish(run, result);
    });
  } finally {
    log.close();
    unlock();
    if (made !== undefined && !started) await rm(made, { recursive: true, force: true });
  }
}

/** Writes the finished student. */
async function finish({ config, out }: TrainingRun, { student, finished }: TrainResult): Promise<boolean> {
  try {
    if (finished) {
      await saveModel(student, join(out, "student"), {
        optimizer: false,
        companionsFrom: [config.student, config.tokenizer ?? config.student],
        replace: true,
      });
    }
    return finished;
  } finally {
    student.dispose();
  }
}

async function readEpisodes(config: TrainConfig): Promise<Episode[]> {
  const { episodes: file } = config;
  async function* all(): AsyncGenerator<Episode> {
    for await (const { record } of readRecords(openBytes(file), { file, kind: "episode" })) yield record;
  }
  const episodes: Episode[] = [];
  for await (const episode of chosenEpisodes(config, all())) episodes.push(episode);
  return episodes;
}

interface TaskSources {
  read(environment: string, task: string): Promise<readonly Source[]>;
  close(): Promise<void>;
}

/**
 * The sources of the tasks that the episodes are of, read from the library a task at a time. All of them are read once
 * now, so that a bad record ends the run before it starts.
 */
async function openSources(
  { library: file }: TrainConfig,
  episodes: readonly Episode[],
): Promise<TaskSources> {
  if (file === undefined) return { read: async () => [], close: async () => undefined };
  const { library, close } = await openIndexedFile(file, { kind: "source" });
  const read = async (environment: string, task: string) => {
    const place = library.find(environment, task);
    return place === undefined ? [] : library.readTask(place);
  };
  try {
    const tasks = new Map(
      episodes.map(({ environment, task }) => [taskKey(environment, task), { environment, task }]),
    );
    for (const { environment, task } of tasks.values()) await read(environment, task);
  } catch (error) {
    await close();
    throw error;
  }
  return { read, close };
}

interface RunTokenizer {
  codec: TextCodec;
  /** Refuses a model whose vocabulary is smaller than the tokenizer's. */
  fits(model: { name: string; vocabulary: number }): void;
}

/** The tokenizer that both models read; tokenizers in the model folders must agree with it. */
async function runTokenizer({ config, configFile }: TrainingRun): Promise<RunTokenizer> {
  const has = (folder: string) => existsSync(join(folder, "tokenizer.json"));
  const folder = config.tokenizer ?? config.student;
  if (!has(folder)) {
    throw new InputError(
      config.tokenizer === undefined
        ? `the student's folder has no tokenizer.json: name a tokenizer's folder (${folder})`
        : `no tokenizer.json in ${folder}`,
      { file: configFile, key: "tokenizer" },
    );
  }
  const tokenizer = await openTokenizer(openFolder(folder));
  for (const other of [config.student, config.teacher]) {
    if (other !== folder && has(other)) checkSameTokenizer(await openTokenizer(openFolder(other)), tokenizer);
  }
  return { codec: textCodec(tokenizer), fits: (model) => checkTokenizerFits(tokenizer, model) };
}

/** Milliseconds more before each further attempt to open a device again. */
const DEVICE_PAUSE = 2000;

interface Models {
  teacher: Scorer;
  reopen: TrainOptions["reopen"];
  openStudent: TrainOptions["openStudent"];
  fingerprint: Record<string, string>;
}

/** Opens the device and the teacher, and frees both whatever happens. */
async function withModels<R>(
  run: TrainingRun,
  inputs: TrainingInputs,
  work: (models: Models) => Promise<R>,
): Promise<R> {
  const { config, onNote, signal } = run;
  const tokenizer = inputs.codec;
  const [teacherFolder, studentFolder] = [openFolder(config.teacher), openFolder(config.student)];
  const { device, compute, cards, teacher_dtype: weights } = config;
  let opened = await openCompute({ device, compute, cards, onNote });
  const { kind } = opened;
  let passes: { teacher?: PassOptions; student?: PassOptions } = {};
  const openTeacher = async () => {
    const teacher = await opened.openScorer(config.teacher, { weights, ...passes.teacher, signal });
    tokenizer.fits({ name: config.teacher, vocabulary: teacher.info.vocabulary });
    return teacher;
  };
  try {
    const limit = limitBytes(config.memory_limit_gib);
    if (opened.kind === "webgpu" || limit !== undefined) {
      const { plan, teacher, student } = await plannedRun(run, inputs, opened);
      checkPlan(plan, limit, opened.device.largestBuffer);
      onNote(describePlan(plan));
      // What is told when memory runs out is what both need.
      passes = { teacher: { ...teacher, plan }, student: { ...student, plan } };
    }
    return await work({
      teacher: await openTeacher(),
      async reopen(_fault, attempt) {
        opened.close();
        // A driver that has just been reset may need a moment.
        await sleep(DEVICE_PAUSE * (attempt - 1), undefined, { signal });
        // Numbers must stay those of the device that the run began on.
        opened = await openCompute({ device: kind, compute, cards, onNote });
        return openTeacher();
      },
      async openStudent(checkpoint) {
        const student = await opened.openTrainer(checkpoint?.name ?? config.student, {
          optimizer: checkpoint === null ? "ignore" : "require",
          ...passes.student,
          signal,
        });
        tokenizer.fits({ name: config.student, vocabulary: student.info.vocabulary });
        return student;
      },
      fingerprint: {
        teacher: await modelDigest(teacherFolder),
        student: await modelDigest(studentFolder),
        device: sha256Hex(compute === "f32" ? kind : `${kind} ${compute}`),
        // Left out where it is f32, as in the checkpoints of runs that had no choice.
        ...(weights === "f32" ? {} : { teacher_dtype: sha256Hex(weights) }),
      },
    });
  } finally {
    opened.close();
  }
}
