/** Where a run's state is kept, and the check that a kept state belongs to this run. */
import { InputError } from "../errors.ts";
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
}

/** One kept state and the folder (model, optimizer) that goes with it. */
export interface Checkpoint {
  state: CheckpointState;
  folder: FolderReader;
}

/** Keeps checkpoints; the newest whole one counts. A store decides how many it keeps. */
export interface CheckpointStore {
  latest(): Promise<Checkpoint | null>;
  /** `write` fills the folder with model and optimizer; the store adds the state and makes both visible at once. */
  save(state: CheckpointState, write: (writer: FolderWriter) => Promise<void>): Promise<void>;
}

/**
 * Refuses a checkpoint of another run.
 *
 * @throws InputError that names the parts of the run that differ
 */
export function checkFingerprint(
  checkpoint: Checkpoint,
  fingerprint: Readonly<Record<string, string>>,
): void {
  const kept = checkpoint.state.fingerprint;
  const names = [...new Set([...Object.keys(kept), ...Object.keys(fingerprint)])].sort();
  const differing = names.filter((name) => kept[name] !== fingerprint[name]);
  if (differing.length > 0) {
    throw new InputError(
      `this checkpoint is of another run: it differs in ${differing.join(", ")}; use another output folder or the same inputs`,
      { file: checkpoint.folder.name },
    );
  }
}
