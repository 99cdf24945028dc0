/**
 * Faults of the disk, put into this process's calls of `node:fs` and `node:fs/promises`: the n-th operation below a
 * folder fails as a disk would let it fail. Native code (SQLite) does its own file work and is not reached.
 */
import fs from "node:fs";
import promises, { type FileHandle } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { resolve, sep } from "node:path";

/**
 * `short`: a write or a read takes half of what it was given. `full`: so does a write, and from then on the disk has no
 * space left. The others are errors of the system, once.
 */
export type Fault = "short" | "full" | "EIO" | "ENOSPC" | "EMFILE";

export interface FileOperation {
  /** As Node names it; those of a FileHandle as `handle.write`. */
  name: string;
  path: string;
  /** What a disk can answer here. */
  faults: readonly Fault[];
}

const MAKES: readonly Fault[] = ["EIO", "ENOSPC"];
const OPENS: readonly Fault[] = ["EIO", "ENOSPC", "EMFILE"];
const LOOKS: readonly Fault[] = ["EIO"];

/** Functions whose first argument is a path. */
const BY_PATH: Readonly<Record<string, readonly Fault[]>> = {
  open: OPENS,
  readFile: ["EIO", "EMFILE"],
  writeFile: OPENS,
  appendFile: OPENS,
  copyFile: OPENS,
  readdir: ["EIO", "EMFILE"],
  mkdir: MAKES,
  mkdtemp: MAKES,
  rename: MAKES,
  truncate: MAKES,
  rm: LOOKS,
  unlink: LOOKS,
  stat: LOOKS,
  lstat: LOOKS,
  access: LOOKS,
  realpath: LOOKS,
};

/** Functions whose first argument is a file descriptor, and methods of a FileHandle. */
const BY_FILE: Readonly<Record<string, readonly Fault[]>> = {
  write: ["short", "full", "EIO", "ENOSPC"],
  writev: ["EIO", "ENOSPC"],
  read: ["short", "EIO"],
  fsync: MAKES,
  fdatasync: MAKES,
  ftruncate: MAKES,
  fstat: LOOKS,
  close: ["EIO"],
};
const BY_HANDLE: Readonly<Record<string, readonly Fault[]>> = {
  write: BY_FILE.write!,
  read: BY_FILE.read!,
  sync: MAKES,
  datasync: MAKES,
  truncate: MAKES,
  stat: LOOKS,
  close: ["EIO"],
  readFile: LOOKS,
  writeFile: MAKES,
  appendFile: MAKES,
};

type Anything = (this: unknown, ...args: unknown[]) => unknown;
type Table = Record<string, unknown>;

export class FileFaults {
  /** What was done below the folder since `arm`. */
  operations: FileOperation[] = [];
  /** The operation that failed. */
  injected: FileOperation | null = null;
  readonly #restore: (() => void)[] = [];
  readonly #files = new Map<number, string>();
  readonly #handles = new WeakMap<object, string>();
  #folder = "";
  #at = -1;
  /** As `#at`, counting only operations that the fault can hit. */
  #nth = -1;
  #candidates = 0;
  #fault: Fault = "EIO";
  /** Node's own functions call each other: only the outermost counts. */
  #inside = false;

  /** Puts the faults in place; `restore` takes them out. */
  static async install(): Promise<FileFaults> {
    const faults = new FileFaults();
    const handle = await promises.open(import.meta.filename);
    const prototype = Object.getPrototypeOf(handle) as Table;
    await handle.close();
    for (const [name, allowed] of Object.entries(BY_HANDLE))
      faults.#wrap(prototype, name, `handle.${name}`, allowed, (self) => faults.#handles.get(self as object));
    for (const [name, allowed] of Object.entries(BY_PATH)) {
      faults.#wrap(promises as unknown as Table, name, name, allowed, (_, path) => faults.#inFolder(path));
      faults.#wrap(fs as unknown as Table, `${name}Sync`, `${name}Sync`, allowed, (_, path) =>
        faults.#inFolder(path),
      );
    }
    faults.#wrapStreams();
    for (const [name, allowed] of Object.entries(BY_FILE))
      faults.#wrap(fs as unknown as Table, `${name}Sync`, `${name}Sync`, allowed, (_, file) =>
        faults.#files.get(file as number),
      );
    syncBuiltinESMExports();
    return faults;
  }

  restore(): void {
    for (const back of this.#restore) back();
    syncBuiltinESMExports();
  }

  /** Counts the operations below `folder` from here on and lets the one with index `at` fail; none without it. */
  arm(folder: string, at = -1, fault: Fault = "EIO"): void {
    this.#folder = resolve(folder) + sep;
    this.#at = at;
    this.#nth = -1;
    this.#candidates = 0;
    this.#fault = fault;
    this.operations = [];
    this.injected = null;
  }

  /**
   * Runs `scenario` with the first operation below a folder failing that `fault` can hit, then with the second, and so
   * on to the last.
   *
   * @param begin makes what the scenario starts from, and gives the folder
   * @returns the operations that failed
   */
  async each(fault: Fault, begin: () => string, scenario: () => unknown): Promise<FileOperation[]> {
    const met: FileOperation[] = [];
    for (let nth = 0; ; nth += 1) {
      this.arm(begin(), -1, fault);
      this.#nth = nth;
      try {
        await scenario();
      } catch (error) {
        const { name, path } = this.injected ?? { name: "none", path: "" };
        throw new Error(`${fault} at ${nth}: ${name} ${path}`, { cause: error });
      } finally {
        this.disarm();
      }
      if (this.injected === null) return met;
      met.push(this.injected);
    }
  }

  /** Lets everything through, uncounted. */
  disarm(): void {
    this.#folder = "";
  }

  /** What `work` does at once is neither counted nor faulted. */
  aside<T>(work: () => T): T {
    const before = this.#inside;
    this.#inside = true;
    try {
      return work();
    } finally {
      this.#inside = before;
    }
  }

  #inFolder(path: unknown): string | undefined {
    if (this.#folder === "" || typeof path !== "string") return undefined;
    const full = resolve(path);
    return `${full}${sep}`.startsWith(this.#folder) ? full : undefined;
  }

  #wrap(
    table: Table,
    key: string,
    name: string,
    allowed: readonly Fault[],
    pathOf: (self: unknown, first: unknown) => string | undefined,
  ): void {
    const original = table[key] as Anything;
    const faults = this;
    const promised = !name.endsWith("Sync");
    table[key] = function (this: unknown, ...args: unknown[]): unknown {
      const path = faults.#inside ? undefined : pathOf(this, args[0]);
      // Its number is given to another file.
      if (name === "closeSync") faults.#files.delete(args[0] as number);
      if (path === undefined || faults.#folder === "") return original.apply(this, args);
      const fault = faults.#next({ name, path, faults: allowed });
      const call = () => faults.aside(() => original.apply(this, args));
      if (fault === null) return faults.#opened(call(), path, name);
      if (fault === "short" || fault === "full") {
        const at = name.startsWith("handle.") ? 0 : 1;
        return faults.aside(() => original.apply(this, halved(args, at)));
      }
      const error = systemError(fault, name, path);
      // A failed close has closed the file all the same.
      if (name.endsWith("close") || name === "closeSync") {
        const closed = call();
        if (closed instanceof Promise)
          return closed.then(() => {
            throw error;
          });
        throw error;
      }
      if (promised) return Promise.reject(error);
      throw error;
    };
    this.#restore.push(() => {
      table[key] = original;
    });
  }

  /** Streams of files call these of `fs`, with a function for the answer at the end. */
  #wrapStreams(): void {
    const table = fs as unknown as Table;
    const [openFile, readFile] = [table.open as Anything, table.read as Anything];
    const meet = (name: string, path: string | undefined, allowed: readonly Fault[], args: unknown[]) => {
      const fault = path === undefined || this.#inside ? null : this.#next({ name, path, faults: allowed });
      if (fault === null || fault === "full") return args;
      if (fault === "short") return [...halved(args.slice(0, -1), 1), args.at(-1)];
      process.nextTick(args.at(-1) as Anything, systemError(fault, name, path!));
      return null;
    };
    table.open = (...args: unknown[]) => {
      const path = this.#inFolder(args[0]);
      const passed = meet("open", path, OPENS, args);
      if (passed === null) return;
      const answer = passed.at(-1) as Anything;
      const opened = (error: unknown, file: number) => {
        if (error === null && path !== undefined) this.#files.set(file, path);
        answer.call(null, error, file);
      };
      openFile.apply(fs, [...passed.slice(0, -1), opened]);
    };
    table.read = (...args: unknown[]) => {
      const passed = meet("read", this.#files.get(args[0] as number), BY_FILE.read!, args);
      if (passed !== null) readFile.apply(fs, passed);
    };
    this.#restore.push(() => Object.assign(table, { open: openFile, read: readFile }));
  }

  #next(operation: FileOperation): Fault | null {
    const index = this.operations.push(operation) - 1;
    if (operation.faults.includes(this.#fault)) {
      const nth = this.#candidates++;
      if (index === this.#at || nth === this.#nth) {
        this.injected = operation;
        return this.#fault;
      }
    }
    const full = this.#fault === "full" && this.injected !== null && operation.faults.includes("ENOSPC");
    return full ? "ENOSPC" : null;
  }

  /** Remembers what an opened file is called. */
  #opened(result: unknown, path: string, name: string): unknown {
    if (name === "openSync") this.#files.set(result as number, path);
    if (name !== "open") return result;
    return (result as Promise<FileHandle>).then((handle) => {
      this.#handles.set(handle, path);
      return handle;
    });
  }
}

/** The arguments of a read or write `(…, buffer, offset, length, position)` for half of the bytes, at least one. */
function halved(args: unknown[], at: number): unknown[] {
  const buffer = args[at];
  if (!(buffer instanceof Uint8Array)) throw new Error("only bytes are written in parts");
  const offset = typeof args[at + 1] === "number" ? (args[at + 1] as number) : 0;
  const length = typeof args[at + 2] === "number" ? (args[at + 2] as number) : buffer.length - offset;
  return [...args.slice(0, at + 1), offset, Math.ceil(length / 2), args[at + 3] ?? null];
}

function systemError(code: string, syscall: string, path: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`${code}: injected, ${syscall} '${path}'`), {
    code,
    syscall,
    path,
    errno: -1,
  });
}
