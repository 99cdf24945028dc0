/** The list of jobs as the worker changes it: each move is noted in the job's folder and told to those who follow it. */

import { ENDED, type JobState } from "../../protocol/job-state.ts";
import { ApiError } from "../http/errors.ts";
import type { JobFolders } from "./job-folders.ts";
import type { JobPatch, JobStore, StoredJob } from "./store.ts";
import { StoreFault } from "./store-fault.ts";

export class JobList {
  readonly #store: JobStore;
  readonly #folders: JobFolders;
  readonly #listeners = new Map<string, Set<() => void>>();

  constructor(store: JobStore, folders: JobFolders) {
    this.#store = store;
    this.#folders = folders;
  }

  /** @throws ApiError 404 */
  get(id: string): StoredJob {
    const job = this.#store.get(id);
    if (job === null) throw new ApiError(404, `job ${JSON.stringify(id)}: there is no such job`);
    return job;
  }

  /** The job as it is now; as it was when the store cannot be asked. What was done is confirmed all the same. */
  latest(job: StoredJob): StoredJob {
    try {
      return this.get(job.id);
    } catch (error) {
      if (error instanceof StoreFault) return job;
      throw error;
    }
  }

  /** Moves a job that is in one of the states `from`; null when it is in another. */
  move(id: string, from: readonly JobState[], to: JobState, patch: JobPatch = {}): StoredJob | null {
    const moved = this.#store.transition(id, from, to, patch);
    if (moved === null) return null;
    if (to === "queued" || ENDED.includes(to)) this.#folders.record(moved);
    this.notify(id);
    return moved;
  }

  /** Calls back after each new event of a job; returns the way to stop that. */
  subscribe(id: string, listener: () => void): () => void {
    const listeners = this.#listeners.get(id) ?? new Set();
    this.#listeners.set(id, listeners.add(listener));
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0) this.#listeners.delete(id);
    };
  }

  /** Calls those who follow a job. */
  notify(id: string): void {
    for (const listener of [...(this.#listeners.get(id) ?? [])]) listener();
  }

  /** Calls those who follow any job. */
  notifyAll(): void {
    for (const id of this.#listeners.keys()) this.notify(id);
  }
}

/** The present time, as the list of jobs has it. */
export function now(): string {
  return new Date().toISOString();
}
