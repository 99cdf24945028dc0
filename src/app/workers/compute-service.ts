/**
 * The models: a frozen teacher and a student, on WebGPU or on the plain TypeScript reference. The page keeps the model
 * folders, so this worker may be ended at any time (the only sure way to stop a computation) and started anew.
 */
import { InputError } from "../../core/errors.ts";
import type { EngineInfo, ScoreRequest, Trainer } from "../../core/ports.ts";
import {
  createBrowserBackend,
  type DeviceChoice,
  ModelScorer,
  ModelTrainer,
} from "../../engine/webgpu/index.ts";
import type { Backend } from "../../tensor/index.ts";
import { blobFolder, type FolderFiles } from "../library/blob-folder.ts";
import type { DeviceState, Role } from "../state/store.ts";

/** How far some work is: tokens or parameters. */
export type OnWork = (progress: { done: number; total: number; unit: string }) => void;

export class ComputeService {
  #backend: Backend | null = null;
  #teacher: ModelScorer | null = null;
  #student: ModelTrainer | null = null;
  #abort: AbortController | null = null;

  /** Opens the device: WebGPU where any adapter is, else the reference, with the reason. */
  async start(choice: Exclude<DeviceChoice, "auto">): Promise<DeviceState> {
    this.#release();
    let reason: string | null = null;
    try {
      this.#backend = await createBrowserBackend(choice);
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      reason = `${error.message.replace(/;.*$/s, "").replace(/^no WebGPU device: /, "")}.`;
      this.#backend = await createBrowserBackend("cpu");
    }
    const { kind, description } = this.#backend;
    return { kind, adapter: description, reason };
  }

  /** Opens a model folder in a role; what had the role before is closed only when the new one is whole. */
  async load(role: Role, folder: FolderFiles, onWork: OnWork): Promise<{ info: EngineInfo; steps: number }> {
    const backend = this.#opened();
    return this.#work(async (signal) => {
      const reader = blobFolder(folder);
      const options = { signal, onProgress: onWork };
      if (role === "teacher") {
        const model = await ModelScorer.open(backend, reader, options);
        this.#teacher?.dispose();
        this.#teacher = model;
        return { info: model.info, steps: 0 };
      }
      const model = await ModelTrainer.open(backend, reader, { ...options, optimizer: "continue" });
      this.#student?.dispose();
      this.#student = model;
      return { info: model.info, steps: model.steps };
    });
  }

  /** Log-probabilities of responses under one model, in the order of the requests. */
  score(role: Role, requests: readonly ScoreRequest[], onWork: OnWork): Promise<Float32Array[]> {
    const model = this.model(role);
    return this.#work(async (signal) => {
      const results = await model.score(requests, { signal, onProgress: onWork });
      return results.map((result) => result.logprobs);
    });
  }

  /** Asks the present work to stop; it rejects with an AbortError. */
  abort(): void {
    this.#abort?.abort();
  }

  model(role: "teacher"): ModelScorer;
  model(role: "student"): ModelTrainer;
  model(role: Role): ModelScorer | ModelTrainer;
  model(role: Role): ModelScorer | ModelTrainer {
    const model = role === "teacher" ? this.#teacher : this.#student;
    if (model === null) throw new InputError(`no ${role} is open`);
    return model;
  }

  /** Hands the student over to a training run, which may dispose it; `keepStudent` gives it back. */
  takeStudent(): ModelTrainer {
    const student = this.model("student");
    this.#student = null;
    return student;
  }

  keepStudent(student: Trainer): void {
    if (!(student instanceof ModelTrainer)) throw new Error("the student is not one of this worker's");
    this.#student = student;
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
    this.#teacher?.dispose();
    this.#student?.dispose();
    this.#backend?.dispose();
    this.#teacher = null;
    this.#student = null;
    this.#backend = null;
  }
}
