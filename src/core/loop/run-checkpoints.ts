/** The checkpoints of a run: when one is due, what it holds, and the last one where it is written beside what follows. */
import type { FolderWriter, Trainer, WorkOptions } from "../ports.ts";
import type { Position } from "./batches.ts";
import { CHECKPOINT_FORMAT, type CheckpointState, type CheckpointStore } from "./checkpoint.ts";
import { BYTES_PER_PARAMETER, CheckpointPace } from "./checkpoint-pace.ts";
import type { TrainEvent } from "./events.ts";
import { reportingWriter } from "./reporting-writer.ts";

interface Options extends Pick<WorkOptions, "onProgress"> {
  /** Null keeps nothing. */
  checkpoints: CheckpointStore | null;
  checkpointEvery?: number;
  keepEvery?: number;
  keepLastBeside?: boolean;
  fingerprint: Record<string, string>;
  settings: Record<string, number>;
  emit(event: TrainEvent): Promise<void>;
}

/** Where a run is after a step: what a checkpoint holds beside the student. */
export interface RunState extends Pick<CheckpointState, "step" | "depth" | "evaluation"> {
  /** The batch of the step. */
  at: Position;
  next: Position;
}

export class RunCheckpoints {
  readonly #options: Options;
  #student!: Trainer;
  #pace!: CheckpointPace;
  /** The run goes on after this step where it fails. */
  #step = 0;
  /** The end of the run, where its checkpoint is still to be written. */
  #last: RunState | null = null;

  constructor(options: Options) {
    this.#options = options;
  }

  /** Begins with a student as a checkpoint holds it, or as the run starts. */
  begin(student: Trainer, step: number): void {
    this.#student = student;
    this.#pace = new CheckpointPace(student.info.parameters);
    this.#step = step;
    this.#last = null;
  }

  /** The step of the newest one, or the one that the run began after. */
  get step(): number {
    return this.#step;
  }

  /** Whether there is one of a step, or will be at the run's end. */
  covers(step: number): boolean {
    return step === this.#step || step === this.#last?.step;
  }

  /** Whether `saveLast` left one to `beside`. */
  get isLeft(): boolean {
    return this.#last !== null;
  }

  /** Whether a step that has just ended is to be kept. */
  isDue(step: number): boolean {
    const { checkpointEvery, keepEvery } = this.#options;
    return (
      [checkpointEvery, keepEvery].some((n) => n !== undefined && step % n === 0) ||
      (checkpointEvery === undefined && this.#pace.due())
    );
  }

  async save({ at, next, ...state }: RunState): Promise<void> {
    const { checkpoints, fingerprint, settings, emit } = this.#options;
    if (checkpoints === null) return;
    const { step, depth, evaluation } = state;
    const kept: CheckpointState = {
      format: CHECKPOINT_FORMAT,
      step,
      position: { stage: next.stage, epoch: next.epoch, batch: next.batch },
      fingerprint,
      settings,
      ...(depth === undefined ? {} : { depth }),
      ...(evaluation === undefined ? {} : { evaluation }),
    };
    await this.#pace.saving(() =>
      checkpoints.save(kept, (writer) => this.#student.save(this.#reporting(writer), { optimizer: true })),
    );
    this.#step = step;
    await emit({ type: "checkpoint", step, stage: at.stage, epoch: at.epoch, batch: at.batch });
  }

  /** The one after the run's last step; where it is to be written beside what follows, `beside` begins it. */
  async saveLast(state: RunState): Promise<void> {
    const { keepLastBeside = false, checkpoints } = this.#options;
    if (!keepLastBeside || checkpoints === null || this.#pace.everyStep) await this.save(state);
    else this.#last = state;
  }

  /** Begins what `saveLast` left. Null where it left nothing. */
  beside(): Promise<void> | null {
    if (this.#last === null) return null;
    const kept = this.save(this.#last);
    // Whoever waits for it is told of its error.
    kept.catch(() => {});
    return kept;
  }

  /** Reports the progress of a large checkpoint, which may take longer to write than a step. */
  #reporting(writer: FolderWriter): FolderWriter {
    const { parameters } = this.#student.info;
    if (parameters === null) return writer;
    const total = Math.round((parameters * BYTES_PER_PARAMETER) / 1e6);
    return reportingWriter(writer, (bytes) =>
      this.#options.onProgress?.({ done: Math.min(total, Math.round(bytes / 1e6)), total, unit: "MB" }),
    );
  }
}
