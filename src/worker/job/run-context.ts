/** What the beginning, the course and the end of every run need. */
import { setTimeout as sleep } from "node:timers/promises";
import type { JobFaults } from "./job-faults.ts";
import type { JobFolders } from "./job-folders.ts";
import type { JobList } from "./job-list.ts";
import type { JobProcess, Launcher, ProcessEnd } from "./launcher.ts";
import type { JobStore } from "./store.ts";

export interface RunContext {
  readonly store: JobStore;
  readonly launcher: Launcher;
  readonly folders: JobFolders;
  readonly jobs: JobList;
  readonly faults: JobFaults;
  /** Milliseconds between two looks at a run's output. */
  readonly pollMs: number;
  /** Milliseconds before what met a fault is tried again. */
  readonly retryMs: number;
  /** Aborted once the worker closes. */
  readonly closing: AbortSignal;
}

/** A run that has begun, or what is known of one that has ended. */
export type Begun =
  | { run: JobProcess; message: string | null }
  | { run: null; message?: undefined; end: ProcessEnd };

/** `work`, again and again until it meets no fault; null when the worker closes before. */
export async function untilDone<T>(
  { closing, retryMs }: Pick<RunContext, "closing" | "retryMs">,
  work: () => T | Promise<T>,
  told: (error: unknown) => void = () => {},
): Promise<T | null> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      told(error);
    }
    if (closing.aborted) return null;
    await sleep(retryMs);
  }
}
