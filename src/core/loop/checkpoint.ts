/** Where a run's state is kept, and the check that a kept state belongs to this run. */
import { InputError } from "../errors.ts";
import type { EvaluationResults } from "../evaluation/index.ts";
import type { Stage } from "../method/method.ts";
import type { FolderReader, FolderWriter } from "../ports.ts";
import type { Position } from "./batches.ts";

export const CHECKPOINT_FORMAT = "gcopd.checkpoint.v1";

/** Everything beside the model folder that a run needs to go on to the same numbers. */
export interface CheckpointState {
  format: typeof CHECKPOINT_FORMAT;
  /** Optimizer steps taken. */
  step: number;
  /** The next batch. */
  position: Position;
  /** Short name of a part of the run → SHA-256 of its content. */
  fingerprint: Record<string, string>;
  /** What the fingerprint's `settings` is of, to name those that differ; absent in checkpoints of earlier versions. */
  settings?: Record<string, number>;
  /** TurnOPD's moving average of the depth, after the stage's last probe; absent where there was none. */
  depth?: { stage: number; average: number };
  /** What the student achieved, and the seconds that measuring it took; absent where it was not measured. */
  evaluation?: EvaluationResults & { seconds: number };
}

/** One kept state and the folder (model, optimizer) that goes with it. */
export interface Checkpoint {
  state: CheckpointState;
  folder: FolderReader;
  /** Newer ones that were passed over, the newest first. */
  damaged?: readonly DamagedCheckpoint[];
}

/** A kept state that is not as it was written. */
export interface DamagedCheckpoint {
  name: string;
  reason: string;
}

/** Keeps checkpoints; the newest whole one counts. A store decides how many it keeps, the best evaluated one among them. */
export interface CheckpointStore {
  /** @throws InputError when there are checkpoints and all are damaged */
  latest(): Promise<Checkpoint | null>;
  /** `write` fills the folder with model and optimizer; the store adds the state and makes both visible at once. */
  save(state: CheckpointState, write: (writer: FolderWriter) => Promise<void>): Promise<void>;
}

/**
 * Refuses a checkpoint of another run.
 *
 * @throws InputError that names the parts of the run that differ, and the settings where the checkpoint has them
 */
export function checkFingerprint(
  checkpoint: Checkpoint,
  fingerprint: Readonly<Record<string, string>>,
  settings: Readonly<Record<string, number>>,
): void {
  const { fingerprint: kept, settings: before } = checkpoint.state;
  const names = [...new Set([...Object.keys(kept), ...Object.keys(fingerprint)])].sort();
  const differing = names.filter((name) => kept[name] !== fingerprint[name]);
  if (differing.length > 0) {
    const changed = Object.entries(settings)
      .filter(([key, value]) => before !== undefined && before[key] !== value)
      .map(
        ([key, value]) =>
          `${key.replace(/[A-Z]/g, (c) => `_${c.toLowerCase()}`)} was ${before?.[key]}, is ${value}`,
      );
    const named = differing.map((name) =>
      name === "settings" && changed.length > 0 ? `settings (${changed.join("; ")})` : name,
    );
    throw new InputError(
      `this checkpoint is of another run: it differs in ${named.join(", ")}; use another output folder or the same inputs`,
      { file: checkpoint.folder.name },
    );
  }
}

/**
 * Refuses a checkpoint whose position is not in the run's schedule, or whose step cannot be reached there.
 *
 * @param firstStep steps taken before the run began, by its parent
 * @throws InputError that names the key and what was expected
 */
export function checkPosition(
  { state, folder }: Checkpoint,
  stages: readonly Pick<Stage, "epochs" | "firstEpoch">[],
  batchesPerEpoch: number,
  firstStep: number,
): void {
  const { stage, epoch, batch } = state.position;
  const refuse = (key: string, expected: string, received: number): never => {
    throw new InputError(`expected ${expected}, received ${received}`, { file: folder.name, key });
  };
  if (stage >= stages.length) refuse("position.stage", `less than the run's ${stages.length} stages`, stage);
  const { epochs, firstEpoch = 0 } = stages[stage]!;
  const end = firstEpoch + epochs;
  if (epoch < firstEpoch) refuse("position.epoch", `at least the stage's first, ${firstEpoch}`, epoch);
  if (epoch > end)
    refuse("position.epoch", `at most ${firstEpoch === 0 ? `the stage's ${epochs} epochs` : end}`, epoch);
  // The end of a stage is written as the beginning of an epoch that it does not have.
  const batches = epoch === end ? 1 : batchesPerEpoch;
  if (batch >= batches) refuse("position.batch", `less than ${batches}`, batch);
  const done = stages.slice(0, stage).reduce((sum, each) => sum + each.epochs, epoch - firstEpoch);
  const before = done * batchesPerEpoch + batch;
  // Batches whose episodes all broke off take no step.
  if (state.step > firstStep + before) {
    refuse("step", `at most ${firstStep + before}, the batches before its position`, state.step);
  }
  if (state.step < firstStep) refuse("step", `at least ${firstStep}, those of the parent`, state.step);
}
