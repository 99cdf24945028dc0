/**
 * A model folder as plain data: picked or dropped files, an opened archive, what was just trained; or files that stay on
 * the worker's disk and are read in parts.
 */
import { InputError } from "../../../core/errors.ts";
import type { FolderReader, FolderWriter } from "../../../core/ports.ts";
import { fileWorkers, WORTH_A_WORKER } from "./file-workers.ts";
import { type FileSink, isOriginFile, readBlob } from "./origin-files.ts";
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

/**
 * Bytes [start, end), perhaps in the `end - start` bytes of `into`. Workers read large ranges of a person's own files, so
 * that several are read at once.
 */
async function part(
  file: FolderFile,
  start: number,
  end: number,
  into?: Uint8Array<ArrayBuffer>,
): Promise<Uint8Array> {
  if (!(file instanceof Blob)) return readShared(file, start, end);
  const apart = end - start >= WORTH_A_WORKER && !isOriginFile(file);
  const read = apart ? await fileWorkers.read(file, start, end) : null;
  return read ?? readBlob(file, start, end, into);
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
    read: async (file, start, end, into) => {
      const bytes = await part(blob(file), start, end, into?.subarray(0, end - start));
      if (bytes.length !== end - start) {
        throw new InputError(`ends at byte ${blob(file).size}, expected to read up to ${end}`, {
          file: `${name}/${file}`,
        });
      }
      return bytes;
    },
  };
}

/** Bytes of a written file that are taken at a time; the last part of a file is shorter. */
export const PART = 2 ** 26;
/** A file of at least so many bytes is a large one. */
const LARGE = 2 ** 20;

/**
 * Looks at a part of a file that has been written. It may keep the part's buffer, and resolves when the next part can be
 * gathered: in the bytes that it gives, or in new ones.
 */
export type OnPart = (
  file: string,
  part: Uint8Array<ArrayBuffer>,
) => Promise<Uint8Array<ArrayBuffer> | undefined>;

/** Collects a written folder; `folder` is null until it is committed, so that a half-written one never shows. */
export class BlobFolderWriter implements FolderWriter {
  readonly #name: string;
  readonly #onPart: OnPart;
  readonly #large: () => Promise<FileSink | null>;
  #sinks: FileSink[] = [];
  #files = new Map<string, Blob>();
  folder: BlobFolder | null = null;

  /**
   * `onPart` gets each part once it is written. `large` opens a place for a large file; without one, and for small files,
   * the bytes go into blobs.
   */
  constructor(
    name: string,
    onPart: OnPart = async (_, part) => part,
    large: () => Promise<FileSink | null> = async () => null,
  ) {
    this.#name = name;
    this.#onPart = onPart;
    this.#large = large;
  }

  async write(name: string, chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<void> {
    let sink: FileSink | null = null;
    let buffer: Uint8Array<ArrayBuffer> | undefined;
    for await (const part of inParts(chunks, () => buffer)) {
      if (sink === null) {
        sink = (part.length < LARGE ? null : await this.#large()) ?? new PartBlobs();
        this.#sinks.push(sink);
      }
      await sink.write(part);
      buffer = await this.#onPart(name, part);
    }
    this.#files.set(name, (await sink?.close()) ?? new Blob());
  }

  async commit(): Promise<void> {
    this.folder = { name: this.#name, files: this.#files };
  }

  async abort(): Promise<void> {
    const sinks = this.#sinks;
    this.#sinks = [];
    this.#files = new Map();
    this.folder = null;
    for (const sink of sinks) await sink.discard();
  }
}

/** A file as a blob of its parts. */
class PartBlobs implements FileSink {
  #parts: Blob[] = [];

  async write(part: Uint8Array<ArrayBuffer>): Promise<void> {
    this.#parts.push(await takenOver(part));
  }

  async close(): Promise<Blob> {
    return new Blob(this.#parts);
  }

  async discard(): Promise<void> {
    this.#parts = [];
  }
}

/** Milliseconds that a browser has to find room for a part, and between two attempts. */
const PATIENCE_MS = 10_000;
const AGAIN_MS = 250;

/**
 * A blob whose bytes the browser has. It may refuse them without a word (Chromium does while it does not know the size of
 * the disk yet, and beyond 2 GB in a private window): only reading the blob tells.
 *
 * @throws InputError where it still refuses after ten seconds
 */
async function takenOver(part: Uint8Array<ArrayBuffer>): Promise<Blob> {
  for (const began = performance.now(); ; ) {
    const blob = new Blob([part]);
    try {
      await blob.slice(-1).arrayBuffer();
      return blob;
    } catch (error) {
      if (performance.now() - began > PATIENCE_MS)
        throw new InputError(
          "this browser has no room for the checkpoint in memory or on its disk",
          {},
          { cause: error },
        );
      await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
    }
  }
}

/** The same bytes in parts of `PART`. `next` gives the bytes that the one after a whole part is gathered in, if any. */
async function* inParts(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  next: () => Uint8Array<ArrayBuffer> | undefined,
): AsyncGenerator<Uint8Array<ArrayBuffer>, void> {
  let part = new Uint8Array(0);
  let used = 0;
  let least = 0;
  for await (const chunk of chunks)
    for (let at = 0; at < chunk.length; ) {
      const taken = chunk.subarray(at, at + PART - used);
      if (used + taken.length > part.length) {
        // Small files take no more memory than they need.
        const larger = new Uint8Array(Math.min(PART, Math.max(least, 2 * (used + taken.length))));
        larger.set(part.subarray(0, used));
        part = larger;
      }
      part.set(taken, used);
      used += taken.length;
      at += taken.length;
      if (used < PART) continue;
      yield part;
      part = next() ?? new Uint8Array(0);
      least = PART;
      used = 0;
    }
  if (used > 0) yield part.subarray(0, used);
}
