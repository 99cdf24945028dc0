/**
 * Large files that the browser keeps for the page: in the origin's file system, where they are written and read in place
 * (docs/performance.md has what blobs in IndexedDB cost). A file stays for as long as a record names it or a thread has it: each thread that has one holds
 * a shared Web Lock of its name, and whoever removes a file takes that lock alone.
 */

import { Turns } from "../../base/turns.ts";

/** Takes one file, part by part. */
export interface FileSink {
  /** The bytes are its own until it resolves. */
  write(part: Uint8Array<ArrayBuffer>): Promise<void>;
  close(): Promise<Blob>;
  /** Leaves nothing of the file, whether it is closed or not. */
  discard(): Promise<void>;
}

/** What TypeScript's library lacks: several threads may read a file at the same time. */
type ReadAccess = FileSystemSyncAccessHandle & { readonly mode?: string };
type ReadOnly = FileSystemFileHandle & {
  createSyncAccessHandle?(options: { mode: "read-only" }): Promise<ReadAccess>;
};

const FOLDER = "kept-files";
/** Milliseconds for the browser to open a file, which takes it a few. */
const PATIENCE_MS = 5000;
const NAME = /^kept-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

const lockOf = (name: string): string => `gcopd-file ${name}`;

/** Whether a file lies in the origin's file system: `name` is its name there, also once it was sent to another thread. */
export const isOriginFile = (file: unknown): file is File => file instanceof File && NAME.test(file.name);

interface Hold {
  name: string;
  release: () => void;
  /** Resolves when others can have the lock alone. */
  released: Promise<unknown>;
}

/** Each thread has an instance of its own. */
export class OriginFiles {
  readonly #holds = new Map<string, Set<Hold>>();
  readonly #byFile = new WeakMap<File, Hold>();
  /** What this thread reads files by: to open one takes several messages to the browser's own process. */
  readonly #access = new Map<string, ReadAccess>();
  /** How many reads of a file are under way. */
  readonly #readers = new Map<string, number>();
  /** One is opened at a time: where several open one file, Chromium now and then never answers one of them. */
  readonly #turns = new Turns();
  /** Files whose opening has no answer, perhaps because another thread opened them too: they are read as blobs. */
  readonly #unanswered = new Set<string>();
  /** Lets go of a file once its objects in this thread are garbage. */
  readonly #collected = new FinalizationRegistry<Hold>((hold) => this.#release(hold));

  /** Either is undefined where the browser has none. */
  constructor(
    private readonly storage: Pick<StorageManager, "getDirectory"> | undefined,
    private readonly locks: LockManager | undefined,
  ) {}

  /** Begins a file; only in a worker. Null where the browser has no place for one. */
  async create(): Promise<FileSink | null> {
    const folder = await this.#folder({ create: true });
    if (folder === null) return null;
    const name = `kept-${crypto.randomUUID()}`;
    const hold = await this.#hold(name);
    const discard = async (): Promise<void> => {
      await removed(folder, name);
      await this.#letGo(name);
    };
    let handle: FileSystemFileHandle;
    let access: FileSystemSyncAccessHandle;
    try {
      handle = await folder.getFileHandle(name, { create: true });
      access = await handle.createSyncAccessHandle();
    } catch (error) {
      await discard();
      throw error;
    }
    let size = 0;
    return {
      write: async (part) => {
        for (let at = 0; at < part.length; ) {
          const written = access.write(part.subarray(at), { at: size });
          if (written === 0) throw new DOMException("no byte was written", "QuotaExceededError");
          at += written;
          size += written;
        }
      },
      close: async () => {
        access.flush();
        access.close();
        return this.#tied(await handle.getFile(), hold);
      },
      discard: async () => {
        access.close();
        await discard();
      },
    };
  }

  /** The file of a name; null where there is none any more. */
  async open(name: string): Promise<File | null> {
    const folder = await this.#folder();
    if (folder === null) return null;
    const hold = await this.#hold(name);
    try {
      return this.#tied(await (await folder.getFileHandle(name)).getFile(), hold);
    } catch (error) {
      this.#release(hold);
      if (isAbsent(error)) return null;
      throw error;
    }
  }

  /**
   * Bytes [start, end) of a file that someone holds, fewer at its end. Null where only the file itself can be read, which
   * takes longer: outside of workers, during another read of it in a browser that lets one read at a time, or where the browser did not answer in time.
   *
   * @param into `end - start` bytes to read into
   */
  async read(
    name: string,
    start: number,
    end: number,
    into?: Uint8Array<ArrayBuffer>,
  ): Promise<Uint8Array<ArrayBuffer> | null> {
    let access: ReadAccess | null = null;
    this.#readers.set(name, (this.#readers.get(name) ?? 0) + 1);
    try {
      access = this.#access.get(name) ?? (await this.#turns.take(() => this.#readAccess(name)));
      if (access === null) return null;
      const bytes = into ?? new Uint8Array(end - start);
      return bytes.subarray(0, access.read(bytes, { at: start }));
    } catch {
      // The file itself tells what is wrong with it.
      return null;
    } finally {
      const readers = this.#readers.get(name)! - 1;
      if (readers > 0) this.#readers.set(name, readers);
      else this.#readers.delete(name);
      if (this.#access.get(name) !== access) access?.close();
      else if (readers === 0 && !this.#isHeld(name)) this.#endReading(name);
    }
  }

  /**
   * Opens a file for reading. Where others can read it then, too, the handle is kept for as long as this thread reads or
   * holds the file.
   */
  async #readAccess(name: string): Promise<ReadAccess | null> {
    const kept = this.#access.get(name);
    if (kept !== undefined) return kept;
    if (this.#unanswered.has(name)) return null;
    const opening = this.#opened(name);
    const access = await inTime(opening);
    if (access === "late") {
      this.#unanswered.add(name);
      const answered = (): boolean => this.#unanswered.delete(name);
      opening.then((handle) => handle?.close()).then(answered, answered);
      return null;
    }
    if (access?.mode === "read-only") this.#access.set(name, access);
    return access;
  }

  async #opened(name: string): Promise<ReadAccess | null> {
    const folder = await this.#folder();
    const handle: ReadOnly | undefined = await folder?.getFileHandle(name);
    return (await handle?.createSyncAccessHandle?.({ mode: "read-only" })) ?? null;
  }

  #isHeld(name: string): boolean {
    return (this.#holds.get(name)?.size ?? 0) > 0;
  }

  /** Holds files that another thread sent; it must keep its own hold until this resolves. */
  async hold(files: Iterable<unknown>): Promise<void> {
    for (const file of files) if (isOriginFile(file)) this.#tied(file, await this.#hold(file.name));
  }

  /** Ends the holds of these file objects, which nothing reads any more; records may still name the files. */
  async letGo(files: Iterable<unknown>): Promise<void> {
    for (const file of files) {
      const hold = isOriginFile(file) ? this.#byFile.get(file) : undefined;
      if (hold === undefined) continue;
      this.#release(hold);
      await hold.released;
    }
  }

  /**
   * Removes the files that no record names and no thread holds. This thread lets go of those in `mine` first.
   *
   * @param named all names in records
   */
  async sweep(named: () => Promise<ReadonlySet<string>>, mine: Iterable<string> = []): Promise<void> {
    const { locks } = this;
    const folder = await this.#folder();
    if (folder === null || locks === undefined) return;
    for (const name of mine) await this.#letGo(name);
    const names: string[] = [];
    for await (const { name } of folder.values()) if (NAME.test(name)) names.push(name);
    if (names.length === 0) return;
    const known = await named();
    for (const name of names)
      if (!known.has(name))
        await locks.request(lockOf(name), { ifAvailable: true }, async (lock) => {
          // It may have got its record after those were read, and before its writer let go of it.
          if (lock === null || (await named()).has(name)) return;
          // One that cannot be removed now waits for the next sweep: nothing depends on it.
          await removed(folder, name).catch(() => undefined);
        });
  }

  /** Null where there is none: whoever reads creates nothing. */
  async #folder(how = { create: false }): Promise<FileSystemDirectoryHandle | null> {
    if (this.locks === undefined || this.storage?.getDirectory === undefined) return null;
    try {
      const root = await this.storage.getDirectory();
      return await root.getDirectoryHandle(FOLDER, how);
    } catch {
      // Private windows of some browsers refuse it.
      return null;
    }
  }

  /** Holds a file in this thread until it is let go of. */
  async #hold(name: string): Promise<Hold> {
    const hold = await new Promise<Hold>((resolve, reject) => {
      const released = this.locks!.request(
        lockOf(name),
        { mode: "shared" },
        () =>
          new Promise<void>((release) => {
            // The request has a promise only after this callback.
            queueMicrotask(() => resolve({ name, release, released }));
          }),
      );
      released.catch(reject);
    });
    const holds = this.#holds.get(name) ?? new Set();
    this.#holds.set(name, holds.add(hold));
    return hold;
  }

  /** Ties a hold to a file object: it ends when the object is collected. */
  #tied(file: File, hold: Hold): File {
    this.#byFile.set(file, hold);
    this.#collected.register(file, hold);
    return file;
  }

  #release(hold: Hold): void {
    const holds = this.#holds.get(hold.name);
    holds?.delete(hold);
    if (holds === undefined || holds.size === 0) this.#endReading(hold.name);
    hold.release();
  }

  #endReading(name: string): void {
    this.#access.get(name)?.close();
    this.#access.delete(name);
  }

  /** Ends all holds of this thread on a file; resolves when others can remove it. */
  async #letGo(name: string): Promise<void> {
    const holds = this.#holds.get(name) ?? [];
    // At once, so that a read meanwhile keeps nothing open.
    this.#holds.delete(name);
    this.#endReading(name);
    for (const { release, released } of holds) {
      release();
      await released;
    }
  }
}

// Node 20, where unit tests load this, has no `navigator`.
export const originFiles = new OriginFiles(globalThis.navigator?.storage, globalThis.navigator?.locks);

/**
 * Bytes [start, end) of a file, fewer at its end; of one of the origin by the fastest way that this thread has, and into
 * the `end - start` bytes of `into` where that is possible.
 */
export async function readBlob(
  file: Blob,
  start: number,
  end: number,
  into?: Uint8Array<ArrayBuffer>,
): Promise<Uint8Array<ArrayBuffer>> {
  const read = isOriginFile(file) ? await originFiles.read(file.name, start, end, into) : null;
  return read ?? new Uint8Array(await file.slice(start, end).arrayBuffer());
}

async function inTime<T>(asked: Promise<T>): Promise<T | "late"> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<"late">((resolve) => {
    timer = setTimeout(resolve, PATIENCE_MS, "late");
  });
  try {
    return await Promise.race([asked, late]);
  } finally {
    clearTimeout(timer);
  }
}

const isAbsent = (error: unknown): boolean => error instanceof Error && error.name === "NotFoundError";

async function removed(folder: FileSystemDirectoryHandle, name: string): Promise<void> {
  try {
    await folder.removeEntry(name);
  } catch (error) {
    if (!isAbsent(error)) throw error;
  }
}
