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

/** States that only a new attempt leaves. */
export const ENDED: readonly JobState[] = ["cancelled", "failed", "lost", "done"];
/** States with a process, or with one about to be. */
export const ACTIVE: readonly JobState[] = ["starting", "running", "cancelling"];
/** States from which a job can go on. */
export const RESUMABLE: readonly JobState[] = ["cancelled", "failed", "lost"];
