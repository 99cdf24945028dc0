/** One training job of the command line: files, devices and checkpoints around the loop of `src/core/loop`. */
import { existsSync } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { environmentRules } from "../../core/environment/environment.ts";
import { InputError } from "../../core/errors.ts";
import {
  configuredMethod,
  configuredSettings,
  freshData,
  libraryContexts,
  RecordedEnvironment,
  recordedData,
  type StepWork,
  type TextCodec,
  type TrainConfig,
  type TrainEvent,
  type TrainingData,
  type TrainResult,
  train,
} from "../../core/loop/index.ts";
import { taskKey } from "../../core/record/library.ts";
import { readRecords } from "../../core/record/read.ts";
import type { Episode, Source } from "../../core/record/schema.ts";
import { sha256Hex } from "../../core/seeded.ts";
import { onFile } from "../../engine/webgpu/file-error.ts";
import { ModelScorer, ModelTrainer } from "../../engine/webgpu/index.ts";
import { createNodeBackend } from "../../engine/webgpu/node.ts";
import { openFolder } from "../../engine/webgpu/node-folder.ts";
import { checkSameTokenizer, checkTokenizerFits, openTokenizer, textCodec } from "../../text/index.ts";
import { lockFolder } from "../../worker/lock.ts";
import { saveModel } from "../engine/save-model.ts";
import { openIndexedFile } from "../indexed-file.ts";
import { openBytes, writeOut } from "../io.ts";
import { DiskCheckpoints } from "./checkpoints.ts";
import { EventLog } from "./event-log.ts";
import { fileDigest, modelDigest } from "./fingerprint.ts";

export interface TrainingRun {
  /** Checked, with absolute paths: see `readTrainConfig`. */
  config: TrainConfig;
  /** Its file, for messages. */
  configFile: string;
  /** Output folder: checkpoints, events, metrics, and the student at the end. */
  out: string;
  onEvent: (event: TrainEvent) => void;
  onWork?: (work: StepWork) => void;
  onNote: (note: string) => void;
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
export async function runTraining(run: TrainingRun): Promise<boolean> {
  const { config } = run;
  const method = configuredMethod(config);
  const episodes = await readLimitedEpisodes(config);
  const codec = await runTokenizer(run);
  const sources = await openSources(config, episodes);
  try {
    return await trainInFolder(run, { method, episodes, codec, sources: sources.read });
  } finally {
    await sources.close();
  }
}

interface TrainingInputs {
  method: ReturnType<typeof configuredMethod>;
  episodes: readonly Episode[];
  codec: RunTokenizer;
  sources: TaskSources["read"];
}

/** The run itself, once everything that it reads is open. */
async function trainInFolder(
  run: TrainingRun,
  { method, episodes, codec, sources }: TrainingInputs,
): Promise<boolean> {
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
    return await withModels(run, codec, async ({ teacher, openStudent, fingerprint }) => {
      const result = await train({
        method,
        settings: configuredSettings(config),
        batchSize: config.batch_size,
        seed: config.seed,
        data: trainingData(config, episodes),
        codec: codec.codec,
        teacher,
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

async function readLimitedEpisodes({ episodes: file, limit }: TrainConfig): Promise<Episode[]> {
  const episodes: Episode[] = [];
  for await (const { record } of readRecords(openBytes(file), { file, kind: "episode" })) {
    episodes.push(record);
    if (episodes.length === limit) break;
  }
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

function trainingData(config: TrainConfig, episodes: readonly Episode[]): TrainingData {
  const { sample } = config;
  if (sample === undefined) return recordedData(episodes);
  const environments = [...new Set(episodes.map(({ environment }) => environment))];
  const limits = environments.map((name) => environmentRules(name).limits);
  const tasks = episodes.map((episode) => ({
    episode: episode.episode,
    environment: episode.environment,
    task: episode.task,
    taskDescription: episode.task_description,
    open: async () => new RecordedEnvironment(episode),
    parse: (response: string, observation: string) =>
      environmentRules(episode.environment).parseResponse(response, observation).action,
  }));
  return freshData(tasks, {
    maxDecisions: sample.max_decisions ?? Math.max(...limits.map(({ decisions }) => decisions)),
    maxTokens: sample.max_tokens ?? Math.max(...limits.map(({ responseTokens }) => responseTokens)),
    temperature: sample.temperature,
    seed: config.seed,
  });
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

interface Models {
  teacher: ModelScorer;
  openStudent: Parameters<typeof train>[0]["openStudent"];
  fingerprint: Record<string, string>;
}

/** Opens the device and the teacher, and frees both whatever happens. */
async function withModels<R>(
  { config, onNote, signal }: TrainingRun,
  tokenizer: RunTokenizer,
  work: (models: Models) => Promise<R>,
): Promise<R> {
  const [teacherFolder, studentFolder] = [openFolder(config.teacher), openFolder(config.student)];
  const backend = await createNodeBackend(config.device, { onNote });
  try {
    const teacher = await ModelScorer.open(backend, teacherFolder, { signal });
    tokenizer.fits({ name: config.teacher, vocabulary: teacher.info.vocabulary });
    return await work({
      teacher,
      async openStudent(checkpoint) {
        const student = await ModelTrainer.open(backend, checkpoint ?? studentFolder, {
          optimizer: checkpoint === null ? "ignore" : "require",
          signal,
        });
        tokenizer.fits({ name: config.student, vocabulary: student.info.vocabulary });
        return student;
      },
      fingerprint: {
        teacher: await modelDigest(teacherFolder),
        student: await modelDigest(studentFolder),
        device: sha256Hex(backend.kind),
      },
    });
  } finally {
    backend.dispose();
  }
}
