/** When a training run measures its student, and what its student achieved last. */
import type { Sampler, WorkOptions } from "../ports.ts";
import type { CheckpointState } from "./checkpoint.ts";
import type { TextCodec } from "./codec.ts";
import type { TrainingEvaluation } from "./evaluation.ts";
import type { TrainEvent } from "./events.ts";
import type { ParentRun } from "./parent-run.ts";

type Evaluation = NonNullable<CheckpointState["evaluation"]>;

interface Options extends WorkOptions {
  /** Absent: nothing is measured. */
  evaluation?: TrainingEvaluation;
  codec: TextCodec;
  parent?: ParentRun;
  /** Ends an evaluation without a fault; it is still due then. */
  stop?: AbortSignal;
  emit(event: TrainEvent): Promise<void>;
}

export class RunEvaluations {
  readonly #options: Options;
  #latest: { step: number; evaluation: Evaluation } | null = null;

  constructor(options: Options) {
    this.#options = options;
  }

  /** What the student achieved after a step; undefined where it was not measured. */
  at(step: number): Evaluation | undefined {
    return this.#latest?.step === step ? this.#latest.evaluation : undefined;
  }

  /** Takes what a checkpoint says of its step in place of all that was measured before, and reports it. */
  async goOnFrom(step: number, evaluation: Evaluation | undefined): Promise<void> {
    this.#latest = evaluation === undefined ? null : { step, evaluation };
    if (evaluation !== undefined) await this.#options.emit({ type: "evaluated", step, ...evaluation });
  }

  /** Whether the student after `step` of `steps` is still to be measured. */
  isDue(step: number, steps: number): boolean {
    const { evaluation, parent } = this.#options;
    if (evaluation === undefined || this.#latest?.step === step) return false;
    return step === steps || step === (parent?.step ?? 0) || step % evaluation.every === 0;
  }

  /** Measures the student where that is due. @returns whether it was measured: a stop comes first */
  async measure(student: Sampler, step: number, steps: number): Promise<boolean> {
    const { evaluation, codec, signal, stop, emit, onProgress } = this.#options;
    if (evaluation === undefined || !this.isDue(step, steps) || stop?.aborted) return false;
    const began = performance.now();
    try {
      const results = await evaluation.measure(student, codec, {
        signal: AbortSignal.any([signal, stop].filter((each) => each !== undefined)),
        onProgress,
      });
      const seconds = (performance.now() - began) / 1000;
      this.#latest = { step, evaluation: { ...results, seconds } };
    } catch (error) {
      if (stop?.aborted && !signal?.aborted && error === stop.reason) return false;
      throw error;
    }
    await emit({ type: "evaluated", step, ...this.#latest.evaluation });
    return true;
  }
}
