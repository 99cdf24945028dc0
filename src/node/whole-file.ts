/** Writes that are whole or did not happen: short writes are completed, and a name changes hands only when all is on the disk. */
import { randomBytes } from "node:crypto";
import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeSync } from "node:fs";
import { type FileHandle, mkdir, mkdtemp, open, readdir, rm, rmdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { onFile, onFileSync } from "./file-error.ts";

export interface WholeOptions {
  /** Permissions of a file that is made. */
  mode?: number;
  /** Name until the file is whole; by default one in the same folder that no other write has. */
  temporary?: string;
  /** What messages call the file; its path by default. */
  name?: string;
}

export interface AdmittedOptions extends WholeOptions {
  /** Called when all is on the disk, just before the file gets its name: nothing runs between the two. To refuse, throw. */
  admit?: () => void;
}

/** A hidden name beside `path` that no other write has. */
export function temporaryName(path: string): string {
  return join(dirname(path), `.${basename(path)}.${randomBytes(6).toString("hex")}.part`);
}

/**
 * Removes what writes under such names left in a folder when their process was killed. Only for whoever holds the
 * folder's lock: a write that is under way would lose its file.
 */
export async function removeTemporaries(folder: string): Promise<void> {
  const left = (await onFile(folder, "read", readdir(folder))).filter((name) =>
    /^\..+\.[0-9a-f]{12}\.part$/.test(name),
  );
  for (const name of left)
    await onFile(folder, "write", rm(join(folder, name), { recursive: true, force: true }));
}

/**
 * Writes a file under a temporary name and renames it once it is on the disk. After an error before the rename the file
 * that stood there is untouched and nothing else is left. When only the folder's sync after it fails, the error is thrown
 * although the new file has the name, whole; a power cut may still bring the old one back.
 *
 * @returns its size in bytes
 * @throws InputError for faults of the disk; errors of `chunks` and `admit` stay what they are
 */
export async function writeWhole(
  path: string,
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  options: AdmittedOptions = {},
): Promise<number> {
  const { temporary = temporaryName(path), mode, name = path, admit } = options;
  const handle = await onFile(name, "write", open(temporary, flags(options), mode));
  try {
    const bytes = await fillFile(handle, chunks, name);
    admit?.();
    onFileSync(name, "write", () => renameSync(temporary, path));
    await syncFolder(dirname(path));
    return bytes;
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => undefined);
    throw error;
  }
}

/** `writeWhole` for callers that cannot wait. */
export function writeWholeSync(path: string, content: string | Uint8Array, options: WholeOptions = {}): void {
  const { temporary = temporaryName(path), mode, name = path } = options;
  onFileSync(name, "write", () => {
    const file = openSync(temporary, flags(options), mode);
    try {
      try {
        writeAllSync(file, content);
        fsyncSync(file);
      } finally {
        closeSync(file);
      }
      renameSync(temporary, path);
      syncFolderSync(dirname(path));
    } catch (error) {
      try {
        rmSync(temporary, { force: true });
      } catch {
        // The fault that came first is the one to tell.
      }
      throw error;
    }
  });
}

/** A name of the caller's own may be left from a write that was killed. */
const flags = ({ temporary }: WholeOptions): string => (temporary === undefined ? "wx" : "w");

/**
 * Writes `chunks` to an open file, waits until they are on the disk, and closes it.
 *
 * @returns bytes written
 * @throws InputError with `path` for faults of the disk; errors of `chunks` stay what they are
 */
export async function fillFile(
  handle: FileHandle,
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  path: string,
): Promise<number> {
  let bytes = 0;
  try {
    for await (const chunk of chunks) {
      await onFile(path, "write", writeAll(handle, chunk));
      bytes += chunk.length;
    }
    await onFile(path, "write", handle.sync());
  } catch (error) {
    await handle.close().catch(() => undefined);
    throw error;
  }
  await onFile(path, "write", handle.close());
  return bytes;
}

/** Writes all of `bytes` at `position`, or where the file's own position is: one write may take only a part. */
export async function writeAll(handle: FileHandle, bytes: Uint8Array, position?: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const at = position === undefined ? null : position + done;
    done += (await handle.write(bytes, done, bytes.length - done, at)).bytesWritten;
  }
}

/** `writeAll` on a file descriptor. */
export function writeAllSync(file: number, content: string | Uint8Array): void {
  const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
  for (let done = 0; done < bytes.length; ) done += writeSync(file, bytes, done);
}

/** Makes a folder and what is missing above it, and puts the new names on the disk. @returns the outermost one made */
export async function makeFolder(path: string, mode?: number): Promise<string | undefined> {
  const made = await onFile(path, "write", mkdir(path, { recursive: true, mode }));
  if (made === undefined) return undefined;
  for (let folder = resolve(path); folder !== dirname(resolve(made)); folder = dirname(folder)) {
    await syncFolder(dirname(folder));
  }
  return made;
}

/**
 * Deletes a folder with all that is in it, and of those that `makeFolder` made above it each that is empty then: another
 * process may work in one.
 *
 * @param made the outermost one that was made
 */
export async function removeMadeFolder(path: string, made: string): Promise<void> {
  await onFile(path, "write", rm(path, { recursive: true, force: true }));
  const outermost = resolve(made);
  for (let folder = resolve(path); folder !== outermost; ) {
    folder = dirname(folder);
    try {
      await rmdir(folder);
    } catch {
      // Something else is in it; an empty one that stays does no harm.
      return;
    }
  }
}

/** Does `work` in a new folder of the system's temporary one, which is removed again. @throws the system's own error where none can be made */
export async function inTemporaryFolder<T>(prefix: string, work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), prefix));
  try {
    return await work(folder);
  } finally {
    // What was found, or went wrong, is what counts; the system's own cleaning takes the rest.
    await rm(folder, { recursive: true, force: true }).catch(() => undefined);
  }
}

/** Puts a folder's names on the disk: a rename outlives a power cut only after this. */
export async function syncFolder(path: string): Promise<void> {
  const handle = await onFile(path, "write", open(path, "r").catch(unlessUnsupported));
  if (handle === undefined) return;
  try {
    await onFile(path, "write", handle.sync().catch(unlessUnsupported));
  } finally {
    await onFile(path, "write", handle.close());
  }
}

/** `syncFolder` for callers that cannot wait. */
export function syncFolderSync(path: string): void {
  let file: number | undefined;
  try {
    file = openSync(path, "r");
    fsyncSync(file);
  } catch (error) {
    unlessUnsupported(error);
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/**
 * Windows opens no folder as a file (EPERM, EISDIR), a folder may be written to but not read (EACCES), and some network
 * file systems have no sync of folders.
 */
function unlessUnsupported(error: unknown): undefined {
  const { code = "" } = error as NodeJS.ErrnoException;
  if (!["EPERM", "EISDIR", "EACCES", "EINVAL", "ENOTSUP"].includes(code)) throw error;
}
