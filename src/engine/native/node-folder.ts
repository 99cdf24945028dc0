import { type Stats, statSync } from "node:fs";
import { type FileHandle, mkdir, open, readdir, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { InputError } from "../../core/errors.ts";
import type { FolderReader, FolderWriter } from "../../core/ports.ts";
import { fileError, onFile, unlessPassing } from "../../node/file-error.ts";
import { fillFile, makeFolder, syncFolder, temporaryName } from "../../node/whole-file.ts";

/** A folder on disk as a FolderReader. An InputError when it is not there or is not a folder. */
export function openFolder(path: string): FolderReader {
  let found: Stats | undefined;
  try {
    found = statSync(path, { throwIfNoEntry: false });
  } catch (error) {
    throw fileError(error, path, "read");
  }
  if (found === undefined) throw new InputError("no such folder", { file: path });
  if (!found.isDirectory()) throw new InputError("expected a folder, this is a file", { file: path });
  return new DiskFolder(path);
}

class DiskFolder implements FolderReader {
  constructor(readonly name: string) {}

  async list(): Promise<string[]> {
    const entries = await onFile(this.name, "read", readdir(this.name, { withFileTypes: true }));
    // A link counts as what it points to: downloaded models often consist of links.
    const files = entries.map(async (entry) => {
      const isFile = entry.isSymbolicLink() ? await this.#leadsToFile(entry.name) : entry.isFile();
      return isFile ? [entry.name] : [];
    });
    return (await Promise.all(files)).flat().sort();
  }

  async #leadsToFile(file: string): Promise<boolean> {
    const found = await onFile(this.name, "read", stat(join(this.name, file)).catch(unlessPassing));
    return found?.isFile() ?? false;
  }

  async size(file: string): Promise<number> {
    return this.#use(file, async (handle) => (await handle.stat()).size);
  }

  async read(file: string, start: number, end: number, into?: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
    return this.#use(file, async (handle) => {
      const bytes = into?.subarray(0, end - start) ?? new Uint8Array(end - start);
      let done = 0;
      while (done < bytes.length) {
        const { bytesRead } = await handle.read(bytes, done, bytes.length - done, start + done);
        if (bytesRead === 0)
          throw new InputError(`the file ends at byte ${start + done}, expected ${end}`, {
            file: join(this.name, file),
          });
        done += bytesRead;
      }
      return bytes;
    });
  }

  async #use<R>(file: string, work: (handle: FileHandle) => Promise<R>): Promise<R> {
    const path = join(this.name, file);
    const handle = await onFile(path, "read", open(path, "r"));
    try {
      return await onFile(path, "read", work(handle));
    } finally {
      await onFile(path, "read", handle.close());
    }
  }
}

export interface CreateFolderOptions {
  /** Takes the place of a folder that is there. */
  replace?: boolean;
  /** Takes the fault where the folder that was replaced could not be removed; absent, `commit` throws it. */
  onLeft?: (fault: unknown) => void;
}

/**
 * Writes a folder of files: into a temporary folder beside `path`, which takes its name on `commit` and is removed by
 * `abort`. An existing folder is refused unless it is empty or `replace` is set; then it stays as it is until `commit`.
 */
export function createFolder(path: string, options: CreateFolderOptions = {}): FolderWriter {
  return new DiskFolderWriter(resolve(path), options);
}

class DiskFolderWriter implements FolderWriter {
  readonly #temporary: string;
  #state: "new" | "writing" | "done" = "new";

  constructor(
    private readonly path: string,
    private readonly options: CreateFolderOptions,
  ) {
    this.#temporary = temporaryName(path);
  }

  async write(name: string, chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<void> {
    if (name !== basename(name) || name === "" || name === "." || name === "..")
      throw new Error(`not a plain file name: ${name}`);
    await this.#begin();
    const path = join(this.path, name);
    await fillFile(await onFile(path, "write", open(join(this.#temporary, name), "wx")), chunks, path);
  }

  async commit(): Promise<void> {
    await this.#begin();
    const replaced = await this.#checkTarget();
    await syncFolder(this.#temporary);
    const old = `${this.#temporary}.old`;
    if (replaced) await onFile(this.path, "write", rename(this.path, old));
    try {
      await onFile(this.path, "write", rename(this.#temporary, this.path));
    } catch (error) {
      if (replaced) await onFile(this.path, "write", rename(old, this.path));
      throw error;
    }
    this.#state = "done";
    try {
      await syncFolder(dirname(this.path));
    } finally {
      if (replaced) await this.#removeOld(old);
    }
  }

  async #removeOld(old: string): Promise<void> {
    try {
      await onFile(old, "write", rm(old, { recursive: true }));
    } catch (error) {
      if (this.options.onLeft === undefined) throw error;
      this.options.onLeft(error);
    }
  }

  async abort(): Promise<void> {
    const left = this.#state === "writing";
    this.#state = "done";
    if (left) await onFile(this.#temporary, "write", rm(this.#temporary, { recursive: true, force: true }));
  }

  async #begin(): Promise<void> {
    if (this.#state === "done") throw new Error(`${this.path}: already committed or aborted`);
    if (this.#state === "writing") return;
    await this.#checkTarget();
    const parent = dirname(this.path);
    await makeFolder(parent);
    await onFile(this.path, "write", mkdir(this.#temporary));
    this.#state = "writing";
  }

  /** @returns whether there is a folder under the name already */
  async #checkTarget(): Promise<boolean> {
    const found = await onFile(this.path, "write", stat(this.path).catch(unlessAbsent));
    if (found === null) return false;
    if (!found.isDirectory()) throw new InputError("this is a file, expected a folder", { file: this.path });
    if (!this.options.replace && (await onFile(this.path, "read", readdir(this.path))).length > 0)
      throw new InputError("this folder already exists and is not empty", { file: this.path });
    return true;
  }
}

function unlessAbsent(error: NodeJS.ErrnoException): null {
  if (error.code === "ENOENT") return null;
  throw error;
}
