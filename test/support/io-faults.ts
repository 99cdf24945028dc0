/**
 * Faults of input and output, injected into the modules under test one file operation at a time. A test file begins with
 *
 *     const { faultyFs, faultyPromises } = await vi.hoisted(() => import("…/io-faults.ts"));
 *     vi.mock("node:fs", async (real) => faultyFs(await real<object>()));
 *     vi.mock("node:fs/promises", async (real) => faultyPromises(await real<object>()));
 *
 * and `eachFault` then runs a scenario again and again, with each operation in turn going wrong.
 */

/** `short`: a read or write moves only half of its bytes. The others are what the system call answers. */
export const FAULTS = ["short", "EIO", "ENOSPC", "EMFILE"] as const;
export type Fault = (typeof FAULTS)[number];

const MESSAGES = {
  EIO: "i/o error",
  ENOSPC: "no space left on device",
  EMFILE: "too many open files",
};

interface Armed {
  fault: Fault;
  /** Operations to let through first. */
  skip: number;
  /** Operations that go wrong after them. */
  times: number;
  /** How every operation after them goes wrong. */
  afterwards: Fault | undefined;
  concerns: (path: string) => boolean;
}

let armed: Armed | null = null;
let hit: string | null = null;
const paths = new Map<number, string>();

/**
 * Lets the operation number `nth`, counted from 1, go wrong, and `times` in all. Only operations on paths that `concerns`
 * accepts count, and for `short` only reads and writes. `afterwards`: so does every operation after them, until `disarmFault`.
 */
export function armFault(
  fault: Fault,
  options: { nth?: number; times?: number; afterwards?: Fault; concerns: (path: string) => boolean },
): void {
  hit = null;
  const { nth = 1, times = 1, afterwards, concerns } = options;
  armed = { fault, skip: nth - 1, times, afterwards, concerns };
}

/** Ends the faults; returns the operation that went wrong last, null when none did. */
export function disarmFault(): string | null {
  armed = null;
  return hit;
}

/**
 * Runs `scenario` with the first operation going wrong, then with the second, until it meets no fault; so for each fault.
 *
 * @returns the operations that went wrong, by fault
 */
export async function eachFault(
  concerns: () => (path: string) => boolean,
  scenario: (fault: Fault, nth: number) => Promise<void>,
  faults: readonly Fault[] = FAULTS,
): Promise<Record<Fault, string[]>> {
  const met: Record<Fault, string[]> = { short: [], EIO: [], ENOSPC: [], EMFILE: [] };
  for (const fault of faults) {
    for (let nth = 1; ; nth += 1) {
      armFault(fault, { nth, concerns: concerns() });
      try {
        await scenario(fault, nth);
      } catch (error) {
        throw new Error(`${fault} at operation ${nth} (${hit})`, { cause: error });
      } finally {
        armed = null;
      }
      if (hit === null) break;
      met[fault].push(hit);
    }
  }
  return met;
}

type Call = (this: unknown, ...args: unknown[]) => unknown;

const TRANSFERS = /^(read|write)v?(Sync|File|FileSync)?$|^appendFile(Sync)?$/;
/** Not operations on files, or made of ones that are wrapped themselves. */
const LEFT_ALONE = /^(_|constants$|promises$|[A-Z]|watch|unwatch|open[A-Z].*Blob|(?:f?stat)?fs)/;

function pathOf(target: unknown): string {
  if (typeof target === "number") return paths.get(target) ?? "";
  return target instanceof URL || typeof target === "string" ? String(target) : "";
}

/** The fault that this operation meets, or null. */
function take(name: string, path: string): Fault | null {
  if (armed === null || !armed.concerns(path)) return null;
  if (armed.fault === "short" && !TRANSFERS.test(name)) return null;
  if (armed.skip > 0) {
    armed.skip -= 1;
    return null;
  }
  if (armed.times === 0) return null;
  armed.times -= 1;
  hit = `${name} ${path}`;
  const { fault, afterwards } = armed;
  if (armed.times === 0 && afterwards !== undefined) armed = { ...armed, fault: afterwards, times: Infinity };
  return fault;
}

function failure(code: keyof typeof MESSAGES, name: string, path: string): Error {
  const syscall = name.replace(/Sync$/, "");
  return Object.assign(new Error(`${code}: ${MESSAGES[code]}, ${syscall} '${path}'`), {
    code,
    syscall,
    path,
  });
}

const bytesOf = (data: unknown): Uint8Array | null =>
  typeof data === "string" ? Buffer.from(data) : data instanceof Uint8Array ? data : null;

/** Arguments of a read or write of a descriptor or handle, for half of its bytes. `at`: where its data stands. */
function half(args: unknown[], at: number): unknown[] {
  const before = args.slice(0, at);
  const [data, ...rest] = args.slice(at);
  if (typeof data === "string") {
    const whole = Buffer.from(data);
    return [...before, whole, 0, Math.ceil(whole.length / 2), rest[0], ...rest.slice(2)];
  }
  if (!(data instanceof Uint8Array)) return args;
  const named = typeof rest[0] === "object" && rest[0] !== null ? (rest[0] as Record<string, unknown>) : null;
  const offset = Number(named?.offset ?? (named === null ? rest[0] : 0) ?? 0);
  const length = Number(named?.length ?? (named === null ? rest[1] : undefined) ?? data.length - offset);
  const position = named === null ? rest[2] : named.position;
  return [
    ...before,
    data,
    offset,
    Math.ceil(length / 2),
    position,
    ...(named === null ? rest.slice(3) : rest.slice(1)),
  ];
}

/** What whole-file functions do when a write falls short: part of it is there, and the next write finds the disk full. */
function written(args: unknown[], at: number): unknown[] {
  const data = bytesOf(args[at]) ?? new Uint8Array();
  return args.with(at, data.subarray(0, Math.ceil(data.length / 2)));
}

const WHOLE = /^(writeFile|appendFile)/;
const PART = /^(read|write)(Sync)?$/;

/** One operation of `node:fs` that returns its result. */
function sync(name: string, real: Call): Call {
  return function (...args) {
    const path = pathOf(args[0]);
    const fault = take(name, path);
    const done = (given: unknown[]) => {
      const result = real.apply(this, given);
      if (name === "openSync") paths.set(Number(result), path);
      return result;
    };
    if (fault === null) return done(args);
    if (fault === "short") {
      if (PART.test(name)) return done(half(args, 1));
      if (!WHOLE.test(name)) return done(args);
      done(written(args, 1));
      throw failure("ENOSPC", name, path);
    }
    if (name === "existsSync") return false;
    // A descriptor is gone even where closing it fails.
    if (name === "closeSync") done(args);
    throw failure(fault, name, path);
  };
}

/** One operation of `node:fs` that calls back: what streams use. */
function callback(name: string, real: Call): Call {
  return function (...args) {
    const path = pathOf(args[0]);
    const back = args.at(-1) as (error: Error | null, ...results: unknown[]) => void;
    if (name === "open") {
      const known = (error: Error | null, descriptor: unknown) => {
        if (error === null) paths.set(Number(descriptor), path);
        back(error, descriptor);
      };
      args = args.with(-1, known);
    }
    const fault = take(name, path);
    if (fault === null) return real.apply(this, args);
    if (fault === "short") return real.apply(this, PART.test(name) ? half(args, 1) : args);
    const failed = failure(fault, name, path);
    if (name === "close")
      return real.apply(
        this,
        args.with(-1, () => back(failed)),
      );
    process.nextTick(back, failed);
  };
}

/** One operation of `node:fs/promises`, or of one of its handles, `at` being where the data of a write stands. */
function promised(name: string, real: Call, file: string | null): Call {
  return async function (...args) {
    const path = file ?? pathOf(args[0]);
    const at = file === null ? 1 : 0;
    const fault = take(name, path);
    const done = async (given: unknown[]) => {
      const result = await real.apply(this, given);
      return name === "open" ? handle(result as object, path) : result;
    };
    if (fault === null) return done(args);
    if (fault === "short") {
      if (PART.test(name)) return done(half(args, at));
      if (!WHOLE.test(name)) return done(args);
      await done(written(args, at));
      throw failure("ENOSPC", name, path);
    }
    if (name === "close") await done(args);
    throw failure(fault, name, path);
  };
}

function handle(real: object, path: string): object {
  return new Proxy(real, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key, target);
      if (typeof value !== "function") return value;
      const bound = value.bind(target) as Call;
      return typeof key === "string" && !key.startsWith("create") ? promised(key, bound, path) : bound;
    },
  });
}

function streams(real: Call, fs: Record<string, unknown>): Call {
  return function (path, options, ...rest) {
    const named = typeof options === "string" ? { encoding: options } : (options as object | undefined);
    const parts = ["open", "close", "read", "write"].map((part) => [part, fs[part]]);
    // A handle brings its own operations.
    const own = named !== undefined && "fd" in named ? {} : { fs: Object.fromEntries(parts) };
    return real.call(this, path, { ...named, ...own }, ...rest);
  };
}

/** `node:fs` with its faults, for `vi.mock`. */
export function faultyFs(real: object): Record<string, unknown> {
  const fs: Record<string, unknown> = { ...real };
  const wrapped = (wrap: (name: string, call: Call) => Call, names: (name: string) => boolean) => {
    for (const [name, value] of Object.entries(fs))
      if (typeof value === "function" && !LEFT_ALONE.test(name) && names(name))
        fs[name] = wrap(name, value as Call);
  };
  wrapped(sync, (name) => name.endsWith("Sync"));
  wrapped(callback, (name) => !name.endsWith("Sync") && !name.startsWith("create") && name !== "exists");
  wrapped(
    (_name, call) => streams(call, fs),
    (name) => name.startsWith("create"),
  );
  return { ...fs, default: fs };
}

/** `node:fs/promises` with its faults, for `vi.mock`. */
export function faultyPromises(real: object): Record<string, unknown> {
  const fs: Record<string, unknown> = { ...real };
  for (const [name, value] of Object.entries(fs))
    if (typeof value === "function" && !LEFT_ALONE.test(name)) fs[name] = promised(name, value as Call, null);
  return { ...fs, default: fs };
}
