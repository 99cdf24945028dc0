import { InputError } from "../core/errors.ts";

const REASONS: Readonly<Record<string, { read: string; write: string } | string>> = {
  ENOENT: { read: "no such file", write: "the folder to write into does not exist" },
  EISDIR: "is a folder; expected a file",
  ENOTDIR: "a part of the path is not a folder",
  EEXIST: "is there already, as a file; expected a folder",
  EACCES: { read: "may not be read (permission denied)", write: "may not be written (permission denied)" },
  EPERM: { read: "may not be read (permission denied)", write: "may not be written (permission denied)" },
  ENOSPC: "no space left on the device",
  EDQUOT: "no space left: the disk quota is used up",
  EFBIG: "larger than a file may be here",
  EROFS: "the file system is read-only",
  ENAMETOOLONG: "the name is too long",
  ELOOP: "symbolic links that lead in a circle",
  EMFILE: "too many open files",
  EIO: "the device reports an error",
};

/** True for what Node's file functions throw. */
export function isSystemError(error: unknown): error is NodeJS.ErrnoException & { code: string } {
  return (
    error instanceof Error &&
    typeof (error as NodeJS.ErrnoException).code === "string" &&
    typeof (error as NodeJS.ErrnoException).syscall === "string"
  );
}

/** A file system error as bad input: one line with the path and the reason in words. Other errors stay as they are. */
export function fileError(error: unknown, path: string, doing: "read" | "write"): unknown {
  if (!isSystemError(error)) return error;
  const reason = REASONS[error.code] ?? `cannot be ${doing === "read" ? "read" : "written"} (${error.code})`;
  return new InputError(typeof reason === "string" ? reason : reason[doing], { file: path });
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
