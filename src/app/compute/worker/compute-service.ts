/**
 * The models: a frozen teacher and a student, on WebGPU or on the plain TypeScript reference. The page keeps the model
 * folders, so this worker may be ended at any time (the only sure way to stop a computation) and restarted.
 */
import { InputError } from "../../../core/errors.ts";
import type {
  EngineInfo,
  FolderReader,
  SampleRequest,
  SampleResult,
  Sampler,
  ScoreOptions,
  ScoreRequest,
  ScoreResult,
  Trainer,
  WorkOptions,
} from "../../../core/ports.ts";
import {
  createBrowserBackend,
  type DeviceSpeed,
  isWebGpu,
  ModelScorer,
  ModelTrainer,
  type PassOptions,
  planTraining,
  planWorkload,
  probeDevice,
  type RunLengths,
} from "../../../engine/native/index.ts";
import {
  type Backend,
  type ComputeFeatures,
  checkPlan,
  combinePlans,
  type MemoryPlan,
  readModelHeader,
  type WeightChoice,
} from "../../../tensor/index.ts";
import { blobFolder, type FolderFiles } from "../../data/files/blob-folder.ts";
import type { DeviceState, Role } from "../store.ts";
import { scoringEngineOf, type Teacher, uncountedMemory } from "./scoring-engines.ts";

/** How far some work is: tokens or parameters. */
export type OnWork = (progress: { done: number; total: number; unit: string }) => void;

/** What to return for each token beside its log-probability; `hidden` is what `headLogprobs` reads. */
export type Wanted = Pick<ScoreOptions, "topK" | "entropy"> & { hidden?: boolean };

/**
 * [response tokens · width] what `headLogprobs` reads before each token: hidden states, or an export's log-probabilities
 * of the whole vocabulary.
 */
export type Scored = ScoreResult & { hidden?: Float32Array };

/** What two models are to do, for a plan of its memory. */
export interface ModelsWorkload {
  kind: "score" | "train";
  /** Null where it takes no part. */
  teacher: FolderFiles | null;
  /** Null where it takes no part. */
  student: FolderFiles | null;
  /** How the teacher's matrices are kept. */
  weights: WeightChoice;
  /** Bytes that may be taken; null: as many as there are. */
  limit: number | null;
}

/** A plan, why it is refused, and how passes are cut to it. */
export interface ModelsPlan {
  plan: MemoryPlan;
  problem: string | null;
  /** What the plan does not count, a sentence each. */
  uncounted: string[];
  passes: Partial<Record<Role, PassOptions>>;
}

export type OtherPlan = Pick<ModelsPlan, "plan" | "problem" | "uncounted">;

/** How a model is to be opened. */
export interface OpenOptions {
  weights: WeightChoice;
  passes: PassOptions | undefined;
}

/** What the teacher is opened from, now and after a fault of the device. */
interface TeacherSource {
  folder: FolderFiles;
  weights: WeightChoice;
}

/** Why a plan is refused, with its numbers; null where it is not. */
function planProblem(plan: MemoryPlan, limit: number | undefined, backend: Backend): string | null {
  try {
    const largest = "largestBuffer" in backend ? backend.largestBuffer : undefined;
    checkPlan(plan, limit, typeof largest === "number" ? largest : undefined);
    return null;
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    return error.message;
  }
}

/** What models are computed on; `webgpu-f32` takes no f16 although matrix units may be there. */
export type ComputeChoice = "webgpu" | "webgpu-f32" | "cpu";

const openChoice = (choice: ComputeChoice): Promise<Backend> =>
  createBrowserBackend(choice === "cpu" ? "cpu" : "webgpu", {
    compute: choice === "webgpu" ? "auto" : "f32",
  });

const TOLD_LIMITS = [
  "maxBufferSize",
  "maxStorageBufferBindingSize",
  "maxStorageBuffersPerShaderStage",
  "maxComputeWorkgroupStorageSize",
  "maxComputeInvocationsPerWorkgroup",
] as const;

export type Limits = Record<(typeof TOLD_LIMITS)[number], number>;

/** `bytes`: of live tensors. `gpu`: null where plain TypeScript computes. */
export interface DeviceFacts {
  bytes: number;
  gpu: { software: boolean; features: ComputeFeatures; limits: Limits } | null;
}

export class ComputeService {
  #choice: ComputeChoice = "webgpu";
  #backend: Backend | null = null;
  #teacher: Teacher | null = null;
  /** What it was opened from. */
  #teacherSource: TeacherSource | null = null;
  #passes: Partial<Record<Role, PassOptions>> = {};
  #student: ModelTrainer | null = null;
  /** What holds it bit for bit, optimizer state included. */
  #studentFolder: Promise<FolderFiles> | null = null;
  /** Its folder is still being written from the device: the student may score, and nothing may change or close it. */
  #keeping = false;
  /** A further model, open for as long as its passes take. */
  #other: Teacher | null = null;
  #abort: AbortController | null = null;

  /** Opens the device: WebGPU where any adapter is, else the reference, with the reason. */
  async start(choice: ComputeChoice): Promise<DeviceState> {
    this.#checkKept();
    this.#release();
    this.#choice = choice;
    let reason: string | null = null;
    try {
      this.#backend = await openChoice(choice);
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      reason = `${error.message.replace(/;.*$/s, "").replace(/^no WebGPU device: /, "")}.`;
      this.#backend = await createBrowserBackend("cpu");
    }
    const { kind, description, compute } = this.#backend;
    const whyF32 = isWebGpu(this.#backend) ? this.#backend.whyF32 : "plain TypeScript computes in f32";
    return { kind, adapter: description, reason, compute, whyF32 };
  }

  /** What the device offers, and what tensors take of it now. */
  device(): DeviceFacts {
    const backend = this.#opened();
    const { bytes } = backend.live();
    if (!isWebGpu(backend)) return { bytes, gpu: null };
    const { features, device, software } = backend;
    const { limits } = device;
    return {
      bytes,
      gpu: {
        software,
        features,
        limits: Object.fromEntries(TOLD_LIMITS.map((name) => [name, limits[name]])) as Limits,
      },
    };
  }

  /** Measures the device while nothing else is computed there. */
  probe(): Promise<DeviceSpeed> {
    const backend = this.#opened();
    return this.#work((signal) => probeDevice(backend, isWebGpu(backend) && !backend.software, signal));
  }

  /** Opens a model folder in a role; what had the role before is closed only when the new one is whole. */
  async load(
    role: Role,
    folder: FolderFiles,
    { weights, passes }: OpenOptions,
    onWork: OnWork,
  ): Promise<{ info: EngineInfo; steps: number }> {
    const backend = this.#opened();
    return this.#work(async (signal) => {
      if (role === "student") this.#checkKept();
      const reader = blobFolder(folder);
      const options = { signal, onProgress: onWork };
      this.#passes[role] = passes;
      if (role === "teacher") {
        const model = await this.#openTeacher(backend, { folder, weights }, options);
        this.#teacher?.dispose();
        this.#teacher = model;
        this.#teacherSource = { folder, weights };
        return { info: model.info, steps: 0 };
      }
      const engine = scoringEngineOf(folder);
      if (engine !== null)
        throw new InputError(
          `${engine.format} can be a teacher only; a student needs its weights as safetensors`,
          { file: folder.name },
        );
      const model = await ModelTrainer.open(backend, reader, {
        ...options,
        ...passes,
        // A run reads the moments when it trains the student.
        optimizer: "later",
      });
      this.#student?.dispose();
      this.keepStudent(model, folder);
      return { info: model.info, steps: model.steps };
    });
  }

  /** Throws `InputError` where a folder holds no model that can be opened, judging by its config and headers. */
  async checkModel(folder: FolderFiles): Promise<void> {
    const reader = blobFolder(folder);
    await (scoringEngineOf(folder)?.check(reader) ?? readModelHeader(reader));
  }

  /** Opens a further model to score with, in the place of the one before. */
  async loadOther(folder: FolderFiles, weights: WeightChoice, onWork: OnWork): Promise<EngineInfo> {
    const backend = this.#opened();
    return this.#work(async (signal) => {
      this.closeOther();
      this.#other = await this.#openFrozen(backend, { folder, weights }, { signal, onProgress: onWork });
      return this.#other.info;
    });
  }

  closeOther(): void {
    this.#other?.dispose();
    this.#other = null;
  }

  closeTeacher(): void {
    this.#teacher?.dispose();
    this.#teacher = null;
    this.#teacherSource = null;
  }

  /** What a job will need of the device; only the headers of the models' files are read. */
  async plan(job: ModelsWorkload, lengths: Record<Role, RunLengths>): Promise<ModelsPlan> {
    const backend = this.#opened();
    const limit = job.limit ?? undefined;
    const uncounted = job.teacher === null ? [] : uncountedMemory(job.teacher, "The teacher");
    const teacherWorkload =
      job.teacher === null || uncounted.length > 0
        ? null
        : { folder: blobFolder(job.teacher), weights: job.weights, ...lengths.teacher };
    if (job.student === null) {
      const teacher =
        teacherWorkload &&
        (await planWorkload(backend, teacherWorkload.folder, {
          ...teacherWorkload,
          kind: "score" as const,
          limit,
        }));
      const plan = combinePlans(teacher === null ? {} : { teacher: teacher.plan });
      const passes = teacher === null ? {} : { teacher: { ...teacher, plan } };
      return { plan, problem: planProblem(plan, limit, backend), uncounted, passes };
    }
    const { plan, teacher, student } = await planTraining(backend, {
      teacher: teacherWorkload,
      student: {
        ...{ folder: blobFolder(job.student), kind: job.kind, ...lengths.student },
        // A student that is still to be opened has none.
        moments: this.#student?.hasMoments ?? false,
      },
      limit,
    });
    const passes = {
      ...(teacher && { teacher: { ...teacher, plan } }),
      student: { ...student, plan },
    };
    return { plan, problem: planProblem(plan, limit, backend), uncounted, passes };
  }

  /** What a further model will need while it is open for such passes, beside teacher and student as `plan` has them. */
  async planOther(
    job: ModelsWorkload,
    lengths: Record<Role, RunLengths>,
    other: { folder: FolderFiles; lengths: RunLengths },
  ): Promise<OtherPlan> {
    const backend = this.#opened();
    const { plan: present, uncounted } = await this.plan(job, lengths);
    const left = uncountedMemory(other.folder, other.folder.name);
    if (left.length > 0)
      return {
        plan: present,
        problem: planProblem(present, job.limit ?? undefined, backend),
        uncounted: [...uncounted, ...left],
      };
    const { plan: added } = await planWorkload(backend, blobFolder(other.folder), {
      ...other.lengths,
      kind: "score",
      weights: job.weights,
    });
    const plan = combinePlans({ "teacher and student": present, [other.folder.name]: added });
    return { plan, problem: planProblem(plan, job.limit ?? undefined, backend), uncounted };
  }

  /** Passes of a new plan for the models that are open. */
  takePasses(passes: Partial<Record<Role, PassOptions>>): void {
    this.#passes = { ...passes };
    for (const [role, model] of [
      ["teacher", this.#teacher],
      ["student", this.#student],
    ] as const)
      if (model instanceof ModelScorer) model.takePasses(passes[role] ?? {});
  }

  /** Scores responses under one model, in the order of the requests. It returns only what is `wanted`. */
  score(
    role: Role | "other",
    requests: readonly ScoreRequest[],
    wanted: Wanted,
    onWork: OnWork,
  ): Promise<Scored[]> {
    const model = this.#scorer(role);
    return this.#work((signal) => model.score(requests, { ...wanted, signal, onProgress: onWork }));
  }

  /** Log-probabilities of single tokens from the `hidden` that `score` returned; see `ModelScorer.headLogprobs`. */
  headLogprobs(role: Role | "other", hidden: Float32Array, ids: readonly number[]): Promise<Float32Array> {
    const model = this.#scorer(role);
    return this.#work((signal) => model.headLogprobs(hidden, ids, { signal }));
  }

  /** The model of a role as one that writes. @throws InputError for a teacher that cannot */
  writer(role: Role): Sampler {
    const model = this.model(role);
    if (!(model instanceof ModelScorer))
      throw new InputError(
        "this teacher's engine only scores: to play, the teacher needs its weights as safetensors",
      );
    return model;
  }

  /** Draws one response. @throws InputError for a teacher that cannot write */
  async sample(role: Role, request: SampleRequest): Promise<SampleResult> {
    const model = this.writer(role);
    const [result] = await this.#work((signal) => model.sample([request], { signal }));
    return result!;
  }

  /** Asks the present work to stop; it rejects with an AbortError. */
  abort(): void {
    this.#abort?.abort();
  }

  model(role: "teacher"): Teacher;
  model(role: "student"): ModelTrainer;
  model(role: Role): Teacher | ModelTrainer;
  model(role: Role): Teacher | ModelTrainer {
    const model = role === "teacher" ? this.#teacher : this.#student;
    if (model === null) throw new InputError(`no ${role} is open`);
    return model;
  }

  #scorer(role: Role | "other"): Teacher | ModelTrainer {
    if (role !== "other") return this.model(role);
    if (this.#other === null) throw new Error("no further model is open");
    return this.#other;
  }

  /** Hands the student over to a training run, which may dispose it; `keepStudent` gives it back. */
  async takeStudent(): Promise<{ student: ModelTrainer; start: FolderFiles }> {
    this.#checkKept();
    const student = this.model("student");
    const start = await this.keptStudent();
    this.#student = null;
    return { student, start };
  }

  /** The student's folder, once it is written. @throws what it could not be written for */
  async keptStudent(): Promise<FolderFiles> {
    if (this.#studentFolder === null) throw new InputError("no student is open");
    return this.#studentFolder;
  }

  #checkKept(): void {
    if (this.#keeping) throw new InputError("the trained student is being kept");
  }

  /** A student of the caller's own in the place of the one that is open: the device has room for one. */
  openProbed(folder: FolderFiles, signal: AbortSignal): Promise<ModelTrainer> {
    const backend = this.#opened();
    this.#checkKept();
    this.#student?.dispose();
    this.#student = null;
    return ModelTrainer.open(backend, blobFolder(folder), {
      ...this.#passes.student,
      optimizer: "ignore",
      signal,
    });
  }

  /** `folder`: what holds it bit for bit, optimizer state included; a promise while that is written. */
  keepStudent(student: Trainer, folder: FolderFiles | Promise<FolderFiles>): ModelTrainer {
    if (!(student instanceof ModelTrainer)) throw new Error("the student is not one of this worker's");
    this.#student = student;
    this.#studentFolder = Promise.resolve(folder);
    this.#keeping = folder instanceof Promise;
    const written = (): void => {
      this.#keeping = false;
    };
    this.#studentFolder.then(written, written);
    return student;
  }

  /** The device, of the same kind, and the teacher reopened after the device failed; null where none was open. */
  async reopen(): Promise<Teacher | null> {
    const source = this.#teacherSource;
    const { kind } = this.#opened();
    this.#teacher?.dispose();
    this.#teacher = null;
    this.#backend?.dispose();
    this.#backend = await openChoice(kind === "cpu" ? "cpu" : this.#choice);
    if (source !== null) this.#teacher = await this.#openTeacher(this.#backend, source, {});
    return this.#teacher;
  }

  /** A kept student, for the training run that goes on with it; a checkpoint must have optimizer state. */
  openStudent(folder: FolderReader, optimizer: "require" | "continue"): Promise<ModelTrainer> {
    return ModelTrainer.open(this.#opened(), folder, { ...this.#passes.student, optimizer });
  }

  #openTeacher(backend: Backend, source: TeacherSource, options: WorkOptions): Promise<Teacher> {
    return this.#openFrozen(backend, source, { ...options, ...this.#passes.teacher });
  }

  /** A frozen model of the caller's own, beside those that are open. */
  openOwn(folder: FolderFiles, signal: AbortSignal): Promise<Teacher> {
    const source = { folder, weights: "f32" } as const;
    return this.#openFrozen(this.#opened(), source, { ...this.#passes.teacher, signal });
  }

  /** A model of any engine that is never updated. */
  async #openFrozen(
    backend: Backend,
    { folder, weights }: TeacherSource,
    options: WorkOptions & PassOptions,
  ): Promise<Teacher> {
    const reader = blobFolder(folder);
    const engine = scoringEngineOf(folder);
    if (engine === null) return ModelScorer.open(backend, reader, { ...options, weights });
    const { kind: device, description: adapter } = backend;
    return engine.open(reader, { ...options, device, adapter });
  }

  /** One piece of work at a time, with a signal that `abort` sets off. */
  run<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    return this.#work(work);
  }

  async #work<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    if (this.#abort !== null) throw new Error("other work is under way");
    const controller = new AbortController();
    this.#abort = controller;
    try {
      return await work(controller.signal);
    } finally {
      this.#abort = null;
    }
  }

  #opened(): Backend {
    if (this.#backend === null) throw new Error("the device is not open");
    return this.#backend;
  }

  #release(): void {
    this.closeTeacher();
    this.#student?.dispose();
    this.closeOther();
    this.#backend?.dispose();
    this.#student = null;
    this.#backend = null;
  }
}
