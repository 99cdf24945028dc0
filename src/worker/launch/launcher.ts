/**
 * Where runs are launched that outlive this machine's sessions: one interface over this machine, ssh, Slurm, Ray and
 * Kubernetes. The run's own folder on the target decides what happened; what a scheduler says counts only where the
 * folder is silent. Jobs of the worker's API have a launcher that watches processes of this machine and shares a disk
 * with them (../job/launcher.ts).
 */
import { LAUNCHED_STATES } from "../../protocol/launched-run.ts";

/** One attempt of a run. Its id is chosen before anything is sent, so that nothing that is sent twice happens twice. */
export interface Attempt {
  /** Id of the run. */
  readonly id: string;
  /** Folder of the run on the target, absolute. */
  readonly folder: string;
  /** From 1. Each has its own output; results are in the run's folder. */
  readonly number: number;
}

/** Bytes of the output that were read already; `tail` asks for the end of it. */
export interface Offsets {
  out: number | "tail";
  err: number | "tail";
}

/**
 * `queued`: the scheduler has not started it. `ended`: it left its exit code. `lost`: it began, is gone and left no word.
 * `never`: it did not begin and nobody will begin it. `unreachable`: the target did not answer, which says nothing of it.
 */
export const RUN_STATES = [...LAUNCHED_STATES, "unreachable"] as const;
export type RunState = (typeof RUN_STATES)[number];

export interface RunStatus {
  state: RunState;
  /** Exit code of the command, once it ended; 128 + the signal's number for one that a signal ended. */
  code: number | null;
  /** What the scheduler says of a queued or a lost run, or why the target was not reached. */
  reason: string | null;
  /** When the scheduler expects to start it, as it writes times. */
  expected: string | null;
  /** What was asked of the run. */
  asked: "stop" | "cancel" | null;
  /** When it began, in seconds since 1970 by the target's clock. */
  began: number | null;
  /** Seconds from its beginning to its end, or to now. */
  seconds: number | null;
  /** Seconds since it last printed something, to its end or to now; null where that is not known. */
  silent: number | null;
  /** Highest number of an attempt in the run's folder; 0 for none. */
  latest: number;
  /** Standard output and standard error from the offsets on, as far as one answer goes. */
  output: Piece;
  log: Piece;
}

export interface Piece {
  /** Where it begins, in bytes. */
  from: number;
  bytes: Uint8Array;
  /** Bytes of all that was printed until then. */
  size: number;
}

/** A file or folder of this machine, and its path in the run's folder. */
export interface Carried {
  from: string;
  to: string;
}

export interface RunLauncher {
  /** Puts a run's folder on the target, whole or not at all; one that is there stays as it is. @param tar file */
  put(run: Attempt, tar: string): Promise<void>;
  /**
   * Begins an attempt, or hands it to the scheduler. One that was submitted before, or has begun, is left alone.
   *
   * @throws InputError when it was refused; `Unreachable` when nothing is known
   */
  submit(run: Attempt): Promise<void>;
  /** Never throws for a target that does not answer: its state is `unreachable` then. */
  status(run: Attempt, offsets: Offsets): Promise<RunStatus>;
  /** Asks for an end after the step; takes it out of the queue where it has not begun. */
  stop(run: Attempt): Promise<void>;
  /** Ends it now: SIGTERM, again after a second, SIGKILL after ten more. */
  cancel(run: Attempt): Promise<void>;
  /**
   * Brings files and folders of the run's folder into a new folder of this machine.
   *
   * @param paths below the run's folder; those that are not there are left out
   */
  fetch(run: Attempt, paths: readonly string[], to: string): Promise<void>;
}
