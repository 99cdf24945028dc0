/** A model folder whose files are blobs: picked or dropped files, an opened archive, or what was just trained. */
import { InputError } from "../../core/errors.ts";
import type { FolderReader, FolderWriter } from "../../core/ports.ts";

export interface FolderFiles {
  /** Shown in messages. */
  name: string;
  files: ReadonlyMap<string, Blob>;
}

export function blobFolder({ name, files }: FolderFiles): FolderReader {
  const blob = (file: string): Blob => {
    const found = files.get(file);
    if (found === undefined) throw new InputError("this file is missing", { file: `${name}/${file}` });
    return found;
  };
  return {
    name,
    list: async () => [...files.keys()],
    size: async (file) => blob(file).size,
    read: async (file, start, end) => {
      const bytes = new Uint8Array(await blob(file).slice(start, end).arrayBuffer());
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
  folder: FolderFiles | null = null;

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
