/** How far a job is, or a run wherever it computes. Apart from the schemas: much of the page reads it, and no schema. */
export const JOB_STATES = [
  "queued",
  "starting",
  "running",
  "cancelling",
  "cancelled",
  "failed",
  "lost",
  "done",
] as const;
export type JobState = (typeof JOB_STATES)[number];

/** Exit codes of a shell, and of the commands, after SIGHUP, SIGINT, SIGKILL and SIGTERM. */
export const SIGNAL_EXIT_CODES: readonly number[] = [129, 130, 137, 143];

/** States that only a new attempt leaves. */
export const ENDED: readonly JobState[] = ["cancelled", "failed", "lost", "done"];
/** States with a process, or with one about to be. */
export const ACTIVE: readonly JobState[] = ["starting", "running", "cancelling"];
/** States from which a job can go on. */
export const RESUMABLE: readonly JobState[] = ["cancelled", "failed", "lost"];
