/**
 * A model folder as plain data: picked or dropped files, an opened archive, what was just trained; or files that stay on
 * the worker's disk and are read in parts.
 */
import { InputError } from "../../../core/errors.ts";
import type { FolderReader, FolderWriter } from "../../../core/ports.ts";
import { readShared, type SharedFile, sharedBlob } from "./shared-files.ts";

export interface FolderFiles {
  /** Shown in messages. */
  name: string;
  files: ReadonlyMap<string, FolderFile>;
  /** Its path below the folder that the worker shares, where it lies there. */
  shared?: string;
}

/** One whose files are all here. */
export interface BlobFolder extends FolderFiles {
  files: ReadonlyMap<string, Blob>;
}

export type FolderFile = Blob | SharedFile;

/** Bytes [start, end). */
async function part(file: FolderFile, start: number, end: number): Promise<Uint8Array> {
  if (!(file instanceof Blob)) return readShared(file, start, end);
  return new Uint8Array(await file.slice(start, end).arrayBuffer());
}

/** The whole file as a blob: of one on the worker's disk, a copy. */
export function wholeFile(file: FolderFile): Promise<Blob> {
  return file instanceof Blob ? Promise.resolve(file) : sharedBlob(file);
}

export function blobFolder({ name, files }: FolderFiles): FolderReader {
  const blob = (file: string): FolderFile => {
    const found = files.get(file);
    if (found === undefined) throw new InputError("this file is missing", { file: `${name}/${file}` });
    return found;
  };
  return {
    name,
    list: async () => [...files.keys()],
    size: async (file) => blob(file).size,
    read: async (file, start, end) => {
      const bytes = await part(blob(file), start, end);
      if (bytes.length !== end - start) {
        throw new InputError(`ends at byte ${blob(file).size}, expected to read up to ${end}`, {
          file: `${name}/${file}`,
        });
      }
      return bytes;
    },
  };
}

/** Collects a written folder in blobs; `folder` is null until it is committed, so that a half-written one never shows. */
export class BlobFolderWriter implements FolderWriter {
  readonly #name: string;
  #files = new Map<string, Blob>();
  folder: BlobFolder | null = null;

  constructor(name: string) {
    this.#name = name;
  }

  async write(name: string, chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<void> {
    const parts: Blob[] = [];
    // Each chunk becomes a blob at once: the writer may reuse its buffer for the next.
    for await (const chunk of chunks) parts.push(new Blob([chunk as Uint8Array<ArrayBuffer>]));
    this.#files.set(name, new Blob(parts));
  }

  async commit(): Promise<void> {
    this.folder = { name: this.#name, files: this.#files };
  }

  async abort(): Promise<void> {
    this.#files = new Map();
    this.folder = null;
  }
}
