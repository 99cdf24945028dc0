/**
 * Faults of the disk, put into this process's calls of `node:fs` and `node:fs/promises`: the n-th operation below a
 * folder fails as a disk would let it fail. Whatever else is called there is an error, so that no operation passes
 * uncounted. Native code (SQLite) does its own file work and is not reached.
 */
import fs from "node:fs";
import promises, { type FileHandle } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve, sep } from "node:path";
import { setImmediate } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { callingLine, fileCalls } from "./file-calls.ts";

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
const CLOSES: readonly Fault[] = ["EIO"];

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
  rmdir: LOOKS,
  unlink: LOOKS,
  stat: LOOKS,
  lstat: LOOKS,
  access: LOOKS,
  realpath: LOOKS,
  chmod: LOOKS,
  symlink: MAKES,
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
  close: CLOSES,
};
const BY_HANDLE: Readonly<Record<string, readonly Fault[]>> = {
  write: BY_FILE.write!,
  read: BY_FILE.read!,
  sync: MAKES,
  datasync: MAKES,
  truncate: MAKES,
  stat: LOOKS,
  readFile: LOOKS,
  writeFile: MAKES,
  appendFile: MAKES,
};

/** Streams do their work with functions that are in the tables. */
const STREAMS = ["createReadStream", "createWriteStream"];

/** More operations than any scenario has. */
const MANY = 2000;

/** For folders of tests with thousands of syncs, which take their time on a disk: in memory where that has a folder. */
export const QUICK = fs.existsSync("/dev/shm") ? "/dev/shm" : tmpdir();

type Anything = (this: unknown, ...args: unknown[]) => unknown;
type Table = Record<string, unknown>;
/** The file of a call, where it is one below the folder. */
type PathOf = (self: unknown, ...args: unknown[]) => string | undefined;

export class FileFaults {
  /** What was done below the folder since `arm`. */
  operations: FileOperation[] = [];
  /** The operation that failed. */
  injected: FileOperation | null = null;
  /** Lines of `src/` whose operation failed, or came after one that did. */
  readonly reached = new Set<string>();
  /** Functions without a fault that were called below the folder. */
  readonly #unknown = new Set<string>();
  readonly #restore: (() => void)[] = [];
  /** Functions of each table that have faults. */
  readonly #wrapped = new Map<Table, string[]>();
  readonly #files = new Map<number, string>();
  readonly #handles = new WeakMap<object, string>();
  #folder = "";
  #at = -1;
  /** Of `each`, with `*` for what is another in each run: operations that have failed before; the first other one fails. */
  #done: Set<string> | null = null;
  /** How often each operation came that the fault can hit. */
  readonly #times = new Map<string, number>();
  #fault: Fault = "EIO";
  /** Promises of operations that are not settled. */
  #pending = 0;
  /** Node's own functions call each other: only the outermost counts. */
  #inside = false;

  /** Puts the faults in place; `restore` takes them out. */
  static async install(): Promise<FileFaults> {
    const faults = new FileFaults();
    // Node's own removal of folders keeps the functions that it finds when it is first used.
    await promises.rm(join(import.meta.dirname, "nothing"), { recursive: true, force: true });
    const handle = await promises.open(import.meta.filename);
    const prototype = Object.getPrototypeOf(handle) as Table;
    await handle.close();
    const byName: PathOf = (_, ...paths) => faults.#inFolder(paths[0]) ?? faults.#inFolder(paths[1]);
    const byFile: PathOf = (_, file) => faults.#files.get(file as number);
    const byHandle: PathOf = (self) => faults.#handles.get(self as object);
    const [sync, promised] = [fs as unknown as Table, promises as unknown as Table];
    for (const [name, allowed] of Object.entries(BY_HANDLE))
      faults.#wrap(prototype, name, `handle.${name}`, allowed, byHandle);
    for (const [name, allowed] of Object.entries(BY_PATH)) {
      faults.#wrap(promised, name, name, allowed, byName);
      faults.#wrap(sync, `${name}Sync`, `${name}Sync`, allowed, byName);
    }
    faults.#wrap(sync, "existsSync", "existsSync", LOOKS, byName);
    faults.#wrapStreams();
    for (const [name, allowed] of Object.entries(BY_FILE))
      faults.#wrap(sync, `${name}Sync`, `${name}Sync`, allowed, byFile);
    faults.#watchOthers(promised, byName);
    faults.#watchOthers(prototype, byHandle);
    faults.#watchOthers(sync, (self, ...args) => byFile(self, ...args) ?? byName(self, ...args));
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
    this.#done = null;
    this.#times.clear();
    this.#fault = fault;
    this.operations = [];
    this.injected = null;
  }

  /**
   * Runs `scenario` until each operation below a folder that `fault` can hit has failed in one run. Operations are told
   * apart by function, file and how often they came: what is done at once comes in any order.
   *
   * @param begin makes what the scenario starts from, and gives the folder
   * @returns the operations that failed
   * @throws where the scenario calls a function that has no fault
   */
  async each(fault: Fault, begin: () => string, scenario: () => unknown): Promise<FileOperation[]> {
    const met: FileOperation[] = [];
    const done = new Set<string>();
    for (;;) {
      this.arm(begin(), -1, fault);
      this.#done = done;
      try {
        await scenario();
      } catch (error) {
        const { name, path } = this.injected ?? { name: "none", path: "" };
        throw new Error(`${fault} at ${met.length}: ${name} ${path}`, { cause: error });
      } finally {
        this.disarm();
      }
      await this.#rest();
      if (this.#unknown.size > 0) throw new Error(`no fault is known for ${[...this.#unknown].join()}`);
      if (this.injected === null) return met;
      met.push(this.injected);
      if (met.length > MANY)
        throw new Error(`no end of operations: ${this.injected.path} is another each time`);
    }
  }

  /** The lines of modules that call the file system and were not reached. */
  unreached(modules: readonly string[]): string[] {
    return modules.flatMap(fileCalls).filter((line) => !this.reached.has(line));
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
    if (this.#folder === "") return undefined;
    const named = path instanceof URL ? fileURLToPath(path) : path;
    if (typeof named !== "string" && !Buffer.isBuffer(named)) return undefined;
    const full = resolve(String(named));
    return `${full}${sep}`.startsWith(this.#folder) ? full : undefined;
  }

  #wrap(table: Table, key: string, name: string, allowed: readonly Fault[], pathOf: PathOf): void {
    const original = table[key];
    if (typeof original !== "function") throw new Error(`there is no function ${name}`);
    table[key] = this.#faulty(original as Anything, name, allowed, pathOf);
    this.#noteWrapped(table, key);
    this.#restore.push(() => {
      table[key] = original;
    });
  }

  #noteWrapped(table: Table, key: string): void {
    this.#wrapped.set(table, [...(this.#wrapped.get(table) ?? []), key]);
  }

  #faulty(original: Anything, name: string, allowed: readonly Fault[], pathOf: PathOf): Anything {
    const faults = this;
    const promised = !name.endsWith("Sync");
    return function (this: unknown, ...args: unknown[]): unknown {
      const path = faults.#inside ? undefined : pathOf(this, ...args);
      // Its number is given to another file.
      if (name === "closeSync") faults.#files.delete(args[0] as number);
      if (path === undefined || faults.#folder === "") return faults.#awaited(original.apply(this, args));
      const fault = faults.#next({ name, path, faults: allowed });
      const call = () => faults.aside(() => original.apply(this, args));
      if (fault === null) return faults.#awaited(faults.#opened(call(), path, name));
      if (fault === "short" || fault === "full") {
        const at = name.startsWith("handle.") ? 0 : 1;
        return faults.aside(() => original.apply(this, halved(args, at)));
      }
      // All that it tells of a fault.
      if (name === "existsSync") return false;
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
  }

  /** Notes calls of what no table has. */
  #watchOthers(table: Table, pathOf: PathOf): void {
    const wrapped = new Set(this.#wrapped.get(table));
    for (const key of Object.getOwnPropertyNames(table)) {
      // `fd` is read, not called; names in capitals are classes.
      if (wrapped.has(key) || STREAMS.includes(key) || !/^[a-z]/.test(key) || key === "constructor") continue;
      if (typeof Object.getOwnPropertyDescriptor(table, key)!.value !== "function") continue;
      const original = table[key] as Anything;
      const faults = this;
      table[key] = function (this: unknown, ...args: unknown[]): unknown {
        if (!faults.#inside && pathOf(this, ...args) !== undefined) faults.#unknown.add(key);
        return original.apply(this, args);
      };
      this.#restore.push(() => {
        table[key] = original;
      });
    }
  }

  /** Streams of files call these of `fs`, with a function for the answer at the end. */
  #wrapStreams(): void {
    const table = fs as unknown as Table;
    const [openFile, readFile, closeFile] = [table.open, table.read, table.close] as [
      Anything,
      Anything,
      Anything,
    ];
    for (const name of ["open", "read", "close"]) this.#noteWrapped(table, name);
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
    table.close = (...args: unknown[]) => {
      const [file, answer] = args as [number, Anything];
      const path = this.#files.get(file);
      this.#files.delete(file);
      // A failed close has closed the file all the same.
      const failed = path !== undefined && meet("close", path, CLOSES, [() => {}]) === null;
      const error = failed ? systemError(this.#fault, "close", path) : null;
      closeFile.call(fs, file, (own: unknown) => answer.call(null, own ?? error));
    };
    this.#restore.push(() => Object.assign(table, { open: openFile, read: readFile, close: closeFile }));
  }

  #next(operation: FileOperation): Fault | null {
    const index = this.operations.push(operation) - 1;
    const hit = this.#isHit(index, operation);
    // What is done only after a fault cannot be the first to fail.
    if (hit || this.injected !== null) this.reached.add(callingLine());
    if (hit) {
      this.injected = operation;
      return this.#fault;
    }
    const full = this.#fault === "full" && this.injected !== null && operation.faults.includes("ENOSPC");
    return full ? "ENOSPC" : null;
  }

  #awaited(result: unknown): unknown {
    if (!(result instanceof Promise)) return result;
    this.#pending += 1;
    const over = () => {
      this.#pending -= 1;
    };
    result.then(over, over);
    return result;
  }

  /** Waits for what was begun beside an operation that failed: it is none of the next run. */
  async #rest(): Promise<void> {
    for (let quiet = 0; quiet < 3; quiet = this.#pending === 0 ? quiet + 1 : 0) await setImmediate();
  }

  #isHit(index: number, operation: FileOperation): boolean {
    if (!operation.faults.includes(this.#fault)) return false;
    if (this.#done === null) return index === this.#at;
    if (this.injected !== null) return false;
    const path = operation.path.slice(this.#folder.length).replace(/-\w{6}(?=\/|$)|[0-9a-f]{12}|\d+/g, "*");
    const key = `${operation.name} ${path}`;
    const times = (this.#times.get(key) ?? 0) + 1;
    this.#times.set(key, times);
    if (this.#done.has(`${key} ${times}`)) return false;
    this.#done.add(`${key} ${times}`);
    return true;
  }

  /** Remembers what an opened file is called. */
  #opened(result: unknown, path: string, name: string): unknown {
    if (name === "openSync") this.#files.set(result as number, path);
    if (name !== "open") return result;
    return (result as Promise<FileHandle>).then((handle) => {
      this.#handles.set(handle, path);
      // Each has its own: there is none in the prototype.
      const close = handle.close as Anything;
      handle.close = this.#faulty(close, "handle.close", CLOSES, () => path) as FileHandle["close"];
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
