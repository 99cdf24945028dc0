/**
 * Reads large files and computes SHA-256 of their parts in a few workers side by side. The browser does either on the thread
 * that asks for it, so a single thread uses a single core.
 */
import { startWorker } from "../../base/worker/start-worker.ts";
import type { FileAnswer, FileAsk } from "./internal/file.worker.ts";
import script from "./internal/file.worker.ts?worker&url";

/** Each may have a part of 64 MiB in memory, and a copy of it while the browser computes. */
const MOST_WORKERS = 4;
/** Milliseconds without work after which the workers end. */
const IDLE_MS = 5_000;
/** Fewer bytes are not worth a worker. */
export const WORTH_A_WORKER = 2 ** 20;

/** How many file workers a machine has: one core stays for the thread that asks. With two cores workers do not pay. */
export const fileWorkersOf = (cores: number): number => (cores <= 2 ? 0 : Math.min(MOST_WORKERS, cores - 1));

/** Each thread has one. Its workers start when they are first needed, and end when idle or with the thread. */
export class FileWorkers {
  /** Those that are started, and those of them that wait for work. */
  #workers: Worker[] = [];
  #free: Worker[] = [];
  /** Asks that wait for a worker; null tells them that there is none. */
  #waiting: ((worker: Worker | null) => void)[] = [];
  #idle: ReturnType<typeof setTimeout> | undefined;

  /**
   * @param size workers at most. With 0, callers do the work themselves. A worker that fails sets it to 0, as in a browser
   *   in which a worker cannot start another.
   */
  constructor(public size: number) {}

  /**
   * Bytes [start, end) of a file, fewer at its end; null where no worker could read them. The caller holds the file until
   * then, as in `digestOf`.
   */
  async read(file: Blob, start: number, end: number): Promise<Uint8Array<ArrayBuffer> | null> {
    return (await this.#ask({ file, start, end, wanted: "bytes" }))?.bytes ?? null;
  }

  /** Digest of bytes [start, end) of a file; null where no worker could tell. */
  async digestOf(file: Blob, start: number, end: number): Promise<string | null> {
    return (await this.#ask({ file, start, end, wanted: "digest" }))?.sha256 ?? null;
  }

  /** Digest of bytes whose buffer goes to a worker, and comes back with the digest; null where it is lost. */
  digestBytes(bytes: Uint8Array<ArrayBuffer>): Promise<FileAnswer | null> {
    return this.#ask({ bytes });
  }

  async #ask(ask: FileAsk): Promise<FileAnswer | null> {
    const worker = await this.#worker();
    if (worker === null) return null;
    try {
      const answer = await answered(worker, ask);
      this.#hand(worker);
      return answer;
    } catch {
      this.#giveUp(worker);
      return null;
    }
  }

  /** A worker that has nothing to do. */
  async #worker(): Promise<Worker | null> {
    if (this.size === 0) return null;
    clearTimeout(this.#idle);
    const free = this.#free.pop();
    if (free !== undefined) return free;
    if (this.#workers.length >= this.size) return new Promise((resolve) => this.#waiting.push(resolve));
    try {
      const worker = startWorker(script, "files");
      this.#workers.push(worker);
      return worker;
    } catch {
      this.#giveUp();
      return null;
    }
  }

  /** Gives a worker that has answered to the next who waits. */
  #hand(worker: Worker): void {
    const next = this.#waiting.shift();
    if (next !== undefined) {
      next(worker);
      return;
    }
    this.#free.push(worker);
    this.#endIfIdle();
  }

  /** The workers that still compute may finish. */
  #giveUp(failed?: Worker): void {
    this.size = 0;
    failed?.terminate();
    this.#workers = this.#workers.filter((worker) => worker !== failed);
    for (const tell of this.#waiting.splice(0)) tell(null);
    this.#endIfIdle();
  }

  #endIfIdle(): void {
    if (this.#free.length < this.#workers.length) return;
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => {
      for (const worker of this.#workers) worker.terminate();
      this.#workers = [];
      this.#free = [];
    }, IDLE_MS);
  }
}

/** @throws where the worker cannot start or fails */
function answered(worker: Worker, ask: FileAsk): Promise<FileAnswer> {
  return new Promise((resolve, reject) => {
    worker.onmessage = ({ data }: MessageEvent<FileAnswer>) => resolve(data);
    worker.onmessageerror = reject;
    worker.onerror = (event) => {
      // The caller does the work itself, so this is no error of the page.
      event.preventDefault();
      reject(event);
    };
    worker.postMessage(ask, "bytes" in ask ? [ask.bytes.buffer] : []);
  });
}

// Node 20, where unit tests load this, has no `navigator`.
export const fileWorkers = new FileWorkers(fileWorkersOf(globalThis.navigator?.hardwareConcurrency ?? 1));
