import { statSync } from "node:fs";
import { InputError } from "../core/errors.ts";

const REASONS: Readonly<Record<string, { read: string; write: string } | string>> = {
  ENOENT: { read: "no such file", write: "the folder to write into does not exist" },
  EISDIR: "is a folder; expected a file",
  ENOTDIR: "a part of the path is not a folder",
  EEXIST: "already exists as a file; expected a folder",
  EACCES: { read: "may not be read (permission denied)", write: "may not be written (permission denied)" },
  EPERM: { read: "may not be read (permission denied)", write: "may not be written (permission denied)" },
  ENOSPC: "no space left on the device",
  EDQUOT: "no space left: the disk quota is used up",
  EFBIG: "larger than a file may be here",
  EROFS: "the file system is read-only",
  ENAMETOOLONG: "the name is too long",
  ELOOP: "symbolic links that lead in a circle",
  EMFILE: "too many open files",
  ENFILE: "too many open files on this machine",
  EIO: "the device reports an error",
  EAGAIN: "the system is short of processes or memory",
  ENOMEM: "the system is short of memory",
  EBUSY: "in use by another program",
  ETIMEDOUT: "the file system does not answer",
  ESTALE: "the file system has lost the file",
};

/** Faults that pass, or that a person can end: what met one is worth another try. */
const PASSING = [
  "EMFILE",
  "ENFILE",
  "ENOSPC",
  "EDQUOT",
  "EIO",
  "EAGAIN",
  "ENOMEM",
  "EBUSY",
  "ETIMEDOUT",
  "ESTALE",
];

/** True for what Node's file functions throw. */
export function isSystemError(error: unknown): error is NodeJS.ErrnoException & { code: string } {
  return (
    error instanceof Error &&
    typeof (error as NodeJS.ErrnoException).code === "string" &&
    typeof (error as NodeJS.ErrnoException).syscall === "string"
  );
}

/** What is wrong and its code, where another try may do; null for every other error. */
export function passingFault(error: unknown): string | null {
  if (!isSystemError(error) || !PASSING.includes(error.code)) return null;
  return `${reasonOf(error.code, "write")} (${error.code})`;
}

/** For what is only looked for: null where it is not there or not to be seen. @throws a fault that passes, which tells neither */
export function unlessPassing(error: unknown): null {
  if (passingFault(error) !== null) throw error;
  return null;
}

/** A file system error as bad input: one line with the path and the reason in words. Other errors stay as they are. */
export function fileError(error: unknown, path: string, doing: "read" | "write"): unknown {
  if (!isSystemError(error)) return error;
  return new InputError(reasonOf(error.code, doing), { file: path }, { cause: error });
}

function reasonOf(code: string, doing: "read" | "write"): string {
  const reason = REASONS[code] ?? `cannot be ${doing === "read" ? "read" : "written"} (${code})`;
  return typeof reason === "string" ? reason : reason[doing];
}

/** `work`, its file system errors reworded for `path`. */
export async function onFile<T>(path: string, doing: "read" | "write", work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw fileError(error, path, doing);
  }
}

/** `onFile` for work that is not waited for. */
export function onFileSync<T>(path: string, doing: "read" | "write", work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw fileError(error, path, doing);
  }
}

/** As `existsSync`, which takes every fault for a no. @throws InputError for one that passes */
export function isThere(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch (error) {
    if (passingFault(error) === null) return false;
    throw fileError(error, path, "read");
  }
}
