/** What a training run reports as it goes: plain data, one JSON object per event, in order. Seconds are wall clock. */
import type { DeviceFault } from "../errors.ts";
import type { EvaluationResults } from "../evaluation/index.ts";
import type { StageEvidence } from "../method/method.ts";
import type { Signal } from "../method/signal.ts";
import type { EngineInfo } from "../ports.ts";
import type { StepMetrics } from "./metrics.ts";
import type { ParentRun } from "./parent-run.ts";
import type { ScoredBatch } from "./score-batch.ts";

/** Where an event belongs. `step` counts optimizer steps from 1; stage, epoch and batch count from 0. */
interface At {
  step: number;
  stage: number;
  epoch: number;
  batch: number;
}

export type TrainEvent =
  | {
      type: "start";
      method: string;
      /** Recorded episodes, or tasks that are rolled out. */
      units: number;
      unit: "episode" | "task";
      batchSize: number;
      /** Optimizer steps of the student at the end, those of a parent run included. */
      steps: number;
      /** Null where no stage asks one. */
      teacher: EngineInfo | null;
      student: EngineInfo;
      /** The run that this one begins from, and the optimizer steps that its student has had; null where there is none. */
      parent: Omit<ParentRun, "depth"> | null;
      /** Steps taken before, when a checkpoint of this run was continued; else null. */
      resumedFrom: number | null;
      /** Seconds that the run had taken by then, all its attempts together; absent where its time is not counted. */
      spent?: number;
    }
  | {
      type: "stage";
      stage: number;
      name: string;
      epochs: number;
      evidence: StageEvidence;
      /** Absent: the sampled token alone. */
      signal?: Signal;
    }
  | {
      type: "epoch";
      stage: number;
      epoch: number;
      batches: number;
      /** Batches in which a task comes more than once, since there are too few tasks. */
      repeating: number;
    }
  | ({
      type: "step";
      units: string[];
      /** Tasks that come more than once in this batch. */
      repeatedTasks: number;
      batches: number;
    } & At)
  /** Fresh episodes were sampled. `ended` counts episodes by why they ended. */
  | ({
      type: "rollout";
      episodes: number;
      decisions: number;
      successes: number;
      ended: Record<string, number>;
      /** Decisions that were replayed before the student's first ones; absent where the stage replays none. */
      replayed?: number;
      /** Decisions after which the stage cuts these episodes, where the horizon did not; absent where it cuts none. */
      depth?: number;
      /** That sampling took. */
      seconds: number;
    } & At)
  /**
   * Episodes that are not part of the update, since they ended for technical reasons or have nothing to train on: N of
   * 1/(N·L_e) counts the others.
   */
  | ({
      type: "excluded";
      /**
       * With the reason where it is known. `noTurn` marks those that did not end for technical reasons: the student had no
       * turn, or no response of the batch has a token. Runs of an earlier version did not mark them.
       */
      episodes: { episode: string; reason: string | null; noTurn?: true }[];
      /** Episodes of the batch. Where all are excluded there is no update, and the student stays as it is. */
      of: number;
      /** Optimizer steps of the student at the end, as far as is known now: less one for each batch without an update. */
      steps: number;
    } & At)
  /** The teacher scored the batch. */
  | ({ type: "scored"; seconds: number } & ScoredBatch & At)
  /**
   * Bridges of this batch were tried: what became of them. Those that are accepted join the update. Of the seconds,
   * `playSeconds` went into the teacher's responses and the continuations, `scoreSeconds` into the teacher's scores.
   */
  | ({
      type: "bridged";
      accepted: number;
      refused: number;
      invalid: number;
      seconds: number;
      playSeconds: number;
      scoreSeconds: number;
    } & At)
  /** `seconds` are of the whole step, `updateSeconds` of the student's forward and backward pass and its update. */
  | ({
      type: "updated";
      metrics: StepMetrics;
      seconds: number;
      updateSeconds: number;
      tokensPerSecond: number;
    } & At)
  /**
   * The student after `step` steps was measured on fixed tasks. A run that goes on after this very step tells it again,
   * right after its start.
   */
  | ({ type: "evaluated"; step: number; seconds: number } & EvaluationResults)
  /**
   * How likely the student after `step` steps finds the actions of the watched decisions: Σ log p of an action's tokens,
   * or of the whole response where `whole` says that the action is not in it, without evidence. A run that goes on after
   * this very step tells it again, right after its start.
   */
  | {
      type: "held-out";
      step: number;
      decisions: {
        episode: string;
        decision: number;
        action: string | null;
        /** Whether the run trains on its episode, and on its task. */
        trained: boolean;
        taskTrained: boolean;
        whole: boolean;
        logprob: number;
      }[];
    }
  /** The last one of a run comes after `done` or `stopped` where it is written beside what follows. */
  | ({ type: "checkpoint" } & At)
  /** A newer checkpoint is not as it was written: the run goes on after `step`, from the newest one that is. */
  | { type: "damaged"; step: number; checkpoint: string; reason: string }
  /**
   * The device failed inside a step. The run goes on after `step`, its last checkpoint, on a reopened device: a
   * `start` event follows. `attempt` counts the faults since the last step, of `attempts` that are tolerated.
   */
  | {
      type: "fault";
      step: number;
      fault: DeviceFault;
      message: string;
      attempt: number;
      attempts: number;
    }
  /** Stopped on request after a whole step, or by its `budget`, in seconds of all attempts; the run can be continued. */
  | {
      type: "stopped";
      step: number;
      steps: number;
      seconds: number;
      budget?: { seconds: number; spent: number };
    }
  | { type: "done"; step: number; seconds: number };
