/** What a training job of the command line is given, and what it tells of its plan. */
import type { RunProbe, RunWork, StepWork, TrainConfig, TrainEvent } from "../../core/loop/index.ts";
import type { MemoryPlan } from "../../tensor/index.ts";

/** What `--plan` tells. */
export interface ToldPlan {
  plan: MemoryPlan;
  /** Tokens of the longest pass of a model that is computed here. */
  passes: { teacher?: number; student?: number };
  work: RunWork & { steps: number };
  device: { kind: "webgpu" | "cpu"; adapter: string | null };
  /** Why the run would be refused; null when it fits, as far as the limits are known. */
  problem: string | null;
  /** What was measured of its time; null where that was not asked for, or cannot be known. */
  probe: RunProbe | null;
}

/** How a training job ended that did not fail. */
export type RunEnd = "done" | "stopped" | "budget";

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
  /** The plan with the run's time, measured on a small part of it. */
  probe?: boolean;
  /** Seconds since this attempt began; by this machine's clock when absent. */
  clock?: () => number;
  /** Aborts inside a step. */
  signal?: AbortSignal;
  /** Ends after the current step. */
  stop?: AbortSignal;
}
