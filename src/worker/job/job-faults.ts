/** Faults of the disk and of the store that jobs wait out: told in the log, among the worker's faults and on the job. */

import { ACTIVE } from "../../protocol/job-state.ts";
import { tell } from "../tell.ts";
import { type JobList, now } from "./job-list.ts";
import { StoreFault } from "./store-fault.ts";

export class JobFaults {
  readonly #jobs: JobList;
  /** What each job waits out at present. */
  readonly #faults = new Map<string, string>();
  /** What each job waits for in the store, and since when. */
  readonly #outages = new Map<string, { line: string; since: string }>();

  constructor(jobs: JobList) {
    this.#jobs = jobs;
  }

  /** What jobs wait out at present, one per line; the store tells its own. */
  get lines(): string[] {
    return [...this.#faults].map(([id, line]) => `job ${id}: ${line}`);
  }

  /** Tells what keeps a job from being followed or started. */
  tell(id: string, line: string, error?: unknown): void {
    // The store tells its own; on the job it can be told once it is over.
    if (error instanceof StoreFault) {
      if (!this.#outages.has(id)) this.#outages.set(id, { line: error.message, since: now() });
      return;
    }
    if (this.#faults.get(id) === line) return;
    this.#faults.set(id, line);
    tell(`job ${id}: ${line}; it is tried again`);
    this.#say(id, `${line}; it is tried again`);
  }

  /** What a job waited out is over. */
  over(id: string): void {
    const outage = this.#outages.get(id);
    if (outage !== undefined) this.#say(id, `waited out since ${outage.since}: ${outage.line}`);
    const waited = this.#outages.delete(id);
    if (this.#faults.delete(id) || waited) this.#say(id, null);
  }

  /** A job's attempt is over: it waits for nothing any more. */
  forget(id: string): void {
    this.#faults.delete(id);
    this.#outages.delete(id);
  }

  /** A message on an active job, where the store takes it. */
  #say(id: string, message: string | null): void {
    try {
      const job = this.#jobs.get(id);
      if (ACTIVE.includes(job.state) && job.message !== message)
        this.#jobs.move(id, [job.state], job.state, { message });
    } catch {
      // The log has it.
    }
  }
}
