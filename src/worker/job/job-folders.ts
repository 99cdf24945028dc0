/** The folders of jobs: what lies where in them, their removal, and how they and the list of jobs are brought together. */
import { lstat, readdir, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { passingFault, unlessPassing } from "../../node/file-error.ts";
import { JOB_ID } from "../../protocol/job.ts";
import { ACTIVE, JOB_STATES } from "../../protocol/job-state.ts";
import { ApiError } from "../http/errors.ts";
import { tell } from "../tell.ts";
import { JOB_FILE, type JobRecord, readJobRecord, writeJobRecord } from "./job-record.ts";
import { LOG_FILE, OUTPUT_FILE } from "./launcher.ts";
import { allEvents } from "./output.ts";
import { reasonOf } from "./reason.ts";
import type { JobStore, StoredJob } from "./store.ts";
import { StoreFault } from "./store-fault.ts";

/** Milliseconds after which inputs that no job was submitted for are deleted. */
const UNUSED_MS = 24 * 3600 * 1000;

/** Begins the name of a job's folder that is being removed. */
const REMOVED = ".removed-";

export class JobFolders {
  readonly #store: JobStore;

  /** @param path folder with a folder for each job */
  constructor(
    readonly path: string,
    store: JobStore,
  ) {
    this.#store = store;
  }

  /** Folder of a job's results. */
  outFolder(id: string): string {
    return join(this.path, id, "out");
  }

  /** Standard error of a job's attempt. */
  logFile(id: string, attempt: number): string {
    return join(this.attemptFolder(id, attempt), LOG_FILE);
  }

  /** Folder of what the launcher keeps of an attempt. */
  attemptFolder(id: string, attempt: number): string {
    return join(this.path, id, `attempt-${attempt}`);
  }

  /** Folder of files that a job reads, sent before it was submitted. */
  inputFolder(id: string): string {
    return join(this.path, id, "in");
  }

  /** `work` on a job's folder. @throws ApiError 503 for faults of the disk */
  onDisk<T>(id: string, work: () => T): T {
    try {
      return work();
    } catch (error) {
      throw this.#fault(id, error);
    }
  }

  #fault(id: string, error: unknown): ApiError {
    return new ApiError(503, `job ${id}: its folder cannot be used: ${reasonOf(error)}`);
  }

  /**
   * Moves a job's folder aside and takes it off the list with `unlist`: both or neither. `removeAside` deletes it then.
   *
   * @throws ApiError 503 when the folder cannot be moved; what `unlist` throws
   */
  async remove(id: string, unlist: () => void): Promise<void> {
    const folder = join(this.path, id);
    const aside = this.#aside(id);
    // A folder that was left under the job's own name would bring the job back at the next start.
    try {
      await rm(aside, { recursive: true, force: true });
      await rename(folder, aside).catch(unlessMissing);
    } catch (error) {
      throw this.#fault(id, error);
    }
    try {
      unlist();
    } catch (error) {
      await rename(aside, folder).catch((fault: NodeJS.ErrnoException) => {
        if (fault.code !== "ENOENT")
          tell(`job ${id}: its folder is ${aside} until the next start: ${fault.message}`);
      });
      throw error;
    }
  }

  /** Deletes what `remove` moved aside; the next start tries again where that fails. */
  async removeAside(id: string): Promise<void> {
    await rm(this.#aside(id), { recursive: true, force: true }).catch((error: Error) =>
      tell(`job ${id}: what it wrote could not be deleted: ${error.message}: the next start tries again`),
    );
  }

  /** Notes in a job's folder what the list of jobs says of it. */
  record(job: StoredJob): void {
    try {
      writeJobRecord(join(this.path, job.id), job);
    } catch (error) {
      tell(
        `job ${job.id}: ${JOB_FILE} was not written, from which a damaged list is filled: ${reasonOf(error)}`,
      );
    }
  }

  /**
   * Deletes folders that hold only inputs, all sent more than a day ago. Call before uploads can begin. A folder that
   * cannot be read is reported and left.
   */
  async removeUnusedInputs(): Promise<void> {
    const all = await readdir(this.path).catch((error: Error) => {
      tell(`${this.path}: unused inputs are left in it: ${reasonOf(error)}`);
      return [];
    });
    for (const name of all) {
      const folder = join(this.path, name);
      try {
        if (!JOB_ID.test(name) || this.#isListed(name)) continue;
        const names = await readdir(folder);
        if (names.some((each) => each !== "in" && each !== "config.json")) continue;
        if (Date.now() - (await newestChange(folder)) > UNUSED_MS)
          await rm(folder, { recursive: true, force: true });
      } catch (error) {
        tell(`${folder}: left as it is: ${reasonOf(error)}`);
      }
    }
  }

  /**
   * Brings folders and list together: finishes removals, and takes in jobs that the list does not have.
   *
   * @param strict throws for faults that may pass; else a folder that cannot be used is reported and left
   */
  async tidy(strict: boolean): Promise<void> {
    const lost: JobRecord[] = [];
    for (const name of await readdir(this.path)) {
      try {
        const folder = join(this.path, name);
        const removed = name.startsWith(REMOVED) ? name.slice(REMOVED.length) : null;
        if (removed !== null) {
          const back = join(this.path, removed);
          const gone = (await stat(back).catch(unlessPassing)) === null;
          if (this.#isListed(removed) && gone) await rename(folder, back);
          else await rm(folder, { recursive: true, force: true });
        } else if (JOB_ID.test(name) && !this.#isListed(name)) {
          const record = readJobRecord(folder);
          if (record !== null && record.id === name) lost.push(record);
        }
      } catch (error) {
        if (error instanceof StoreFault || (strict && passingFault(error) !== null)) throw error;
        tell(`${join(this.path, name)}: left as it is: ${reasonOf(error)}`);
      }
    }
    lost.sort((a, b) => (a.created_at < b.created_at ? -1 : 1));
    for (const record of lost) await this.#takeIn(record, strict);
    if (lost.length > 0)
      tell(`found in their folders and listed again: ${lost.map(({ id }) => id).join(", ")}`);
    // A record that cannot be checked is written again.
    for (const job of this.#store.inStates(JOB_STATES))
      if ((await stat(join(this.path, job.id, JOB_FILE)).catch(() => null)) === null) this.record(job);
  }

  /** Lists a job that only its folder knows, with all that its attempts printed. */
  async #takeIn(record: JobRecord, strict: boolean): Promise<void> {
    const names = await readdir(join(this.path, record.id));
    const attempts = names.map((name) => Number(/^attempt-(\d+)$/.exec(name)?.[1] ?? 0));
    const attempt = Math.max(record.attempt, ...attempts);
    // An attempt that the record does not know may still run: it is looked for like one of a previous worker.
    const open = attempt > record.attempt || ACTIVE.includes(record.state);
    const job: JobRecord = open ? { ...record, state: "running", attempt, ended_at: null } : record;
    const file = (n: number) => join(this.attemptFolder(record.id, n), OUTPUT_FILE);
    this.#store.restore(
      job,
      (function* () {
        for (let n = 1; n < attempt + (open ? 0 : 1); n += 1) {
          try {
            for (const event of allEvents(file(n))) yield { ...event, attempt: n };
          } catch (error) {
            if (strict && passingFault(error) !== null) throw error;
            const text = `the rest of this attempt's output could not be read: ${reasonOf(error)}`;
            yield { type: "output" as const, text: JSON.stringify({ text }), attempt: n };
          }
        }
      })(),
    );
  }

  #aside(id: string): string {
    return join(this.path, `${REMOVED}${id}`);
  }

  #isListed(id: string): boolean {
    return this.#store.get(id) !== null;
  }
}

/** @throws every error but that there is no such file */
function unlessMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== "ENOENT") throw error;
}

/** When a folder or anything below it last changed, in milliseconds. */
async function newestChange(folder: string): Promise<number> {
  const below = await readdir(folder, { recursive: true });
  const times = await Promise.all(
    [folder, ...below.map((name) => join(folder, name))].map(async (path) => (await lstat(path)).mtimeMs),
  );
  return Math.max(...times);
}
