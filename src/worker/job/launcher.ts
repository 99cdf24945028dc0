/**
 * Where a job's command runs. The queue knows only this; a launcher starts the command and finds it again after the
 * worker was killed. All that they share is the run's folder, which must be visible to both (a shared file system, for
 * a cluster): the command's standard output goes to `stdout.jsonl` in it and its standard error to `stderr.log`.
 */

export const OUTPUT_FILE = "stdout.jsonl";
export const LOG_FILE = "stderr.log";

/** One attempt of one job. */
export interface ProcessSpec {
  job: string;
  attempt: number;
  /** Arguments of the `gcopd` command line. */
  args: readonly string[];
  /** Folder of this attempt alone. */
  folder: string;
}

/**
 * How a run ended. `unknown`: it is gone and left no word. `memory`: there is evidence that the system ended it for want
 * of memory.
 */
export type ProcessEnd = (
  | { kind: "exit"; code: number }
  | { kind: "signal"; signal: string }
  | { kind: "unknown" }
) & { memory?: boolean };

/** Killed, or gone as one that was killed is; 137 is how a shell says SIGKILL. */
export function isKill(end: ProcessEnd): boolean {
  if (end.kind === "signal") return end.signal === "SIGKILL";
  return end.kind === "unknown" || end.code === 137;
}

export interface JobProcess {
  /** Shown to users, for example `process 4711`. */
  readonly name: string;
  /** Settles once the run is over and its output complete; never rejects. */
  readonly ended: Promise<ProcessEnd>;
  /**
   * Asks the run to stop, and makes it stop when it does not. `patient` only asks, once: training ends after its step,
   * however long that takes. Returns at once.
   */
  stop(options?: { patient: boolean }): void;
}

/** What became of a run that a previous worker started. `never`: it did not begin and now never will. */
export type Recovered =
  | { kind: "running"; run: JobProcess }
  | { kind: "ended"; end: ProcessEnd }
  | { kind: "never" };

export interface Launcher {
  /**
   * Resolves once the run has begun; rejects when it did not and will not. After a fault that may pass (a full disk, too
   * many open files) the same attempt is launched again.
   */
  launch(spec: ProcessSpec): Promise<JobProcess>;
  /**
   * Finds out what became of an attempt, also of one that may never have reached `launch`. Rejects where it cannot tell,
   * and is then asked again.
   */
  recover(spec: ProcessSpec): Promise<Recovered>;
}
