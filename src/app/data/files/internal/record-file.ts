/** One file of records as the page opens it: dropped, picked, imported or behind an address; read through its index. */
import { InputError } from "../../../../core/errors.ts";
import { byteChunks } from "../../../../formats/bytes.ts";
import { gunzip, isGzip, maybeGunzip } from "../../../../formats/gunzip.ts";
import {
  buildIndex,
  fileIdentity,
  type IndexedLibrary,
  indexFileName,
  indexLines,
  isFresh,
  type LibraryIndex,
  openIndexedLibrary,
  readIndex,
} from "../../../../formats/indexed/index.ts";
import { type RangedReader, rangedChunks } from "../../../../formats/ranged-reader.ts";
import { blobReader } from "./blob-reader.ts";
import { BlobSpool } from "./blob-spool.ts";
import { addressName, addressWith, bytesBeside, openAddress } from "./http-reader.ts";

/** Where records come from. */
export type RecordInput =
  | { kind: "blob"; name: string; blob: Blob; sidecar?: Blob }
  | { kind: "address"; address: string };

/** Bytes that were read of one file; `total` is null where nobody knows. */
export interface ReadProgress {
  file: string;
  bytes: number;
  total: number | null;
}

export interface OpenOptions {
  signal?: AbortSignal;
  onProgress?: (progress: ReadProgress) => void;
  /** For tests. */
  fetch?: typeof fetch;
}

export interface RecordFile {
  name: string;
  reader: RangedReader;
  index: LibraryIndex;
  library: IndexedLibrary;
  /** `kept`: taken from beside the file. */
  indexed: "kept" | "built";
  /** An index of it can be kept beside it: it is neither compressed nor imported. */
  original: boolean;
  /** Reading from it goes over the network. */
  remote: boolean;
  /** What a person should know about how it was opened, a sentence each. */
  notes: string[];
}

/** Bytes of one range request while a whole file is indexed over the network. */
const REMOTE_CHUNK = 8 << 20;

const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(bytes < 1e7 ? 1 : 0)} MB`;

/** Opens one file. `InputError` for one that cannot be read or whose lines are not records; AbortError when stopped. */
export async function openRecordFile(input: RecordInput, options: OpenOptions = {}): Promise<RecordFile> {
  return input.kind === "blob" ? openBlob(input, options) : openRemote(input.address, options);
}

async function openBlob(
  { name, blob, sidecar }: Extract<RecordInput, { kind: "blob" }>,
  options: OpenOptions,
): Promise<RecordFile> {
  const reader = blobReader(blob, name);
  const head = await reader.read(0, Math.min(2, reader.size));
  if (isGzip(head)) {
    const file = await spooled(gunzip(rangedChunks(reader), name), name, null, options);
    const notes =
      sidecar === undefined ? [] : [`${indexFileName(name)} was not used: ${name} is compressed.`];
    return { ...file, notes };
  }
  const notes: string[] = [];
  const kept = sidecar === undefined ? null : await keptIndex(byteChunks(sidecar.stream()), reader, notes);
  const index = kept ?? (await builtIndex(reader, options));
  return opened(reader, index, {
    indexed: kept === null ? "built" : "kept",
    original: true,
    remote: false,
    notes,
  });
}

async function openRemote(address: string, options: OpenOptions): Promise<RecordFile> {
  const file = await openAddress(address, options);
  const name = addressName(address);
  if (!file.ranges) {
    const spool = await spooled(maybeGunzip(file.bytes, name), name, file.size, options);
    const note = `${name} was downloaded whole (${megabytes(spool.reader.size)}): ${file.reason}, so single tasks cannot be read from it.`;
    return { ...spool, notes: [note] };
  }
  const { reader } = file;
  if (isGzip(await reader.read(0, Math.min(2, reader.size)))) {
    const spool = await spooled(gunzip(rangedChunks(reader, REMOTE_CHUNK), name), name, null, options);
    const note = `${name} was downloaded whole (${megabytes(reader.size)}): it is compressed, so single tasks cannot be read from it.`;
    return { ...spool, notes: [note] };
  }
  const notes: string[] = [];
  const beside = await bytesBeside(addressWith(address, indexFileName("")), options);
  const kept = beside === null ? null : await keptIndex(byteChunks(beside), reader, notes);
  if (beside === null) {
    notes.push(
      `${name} has no ${indexFileName("")} beside it on the server: it was read once whole (${megabytes(reader.size)}) to make its index.`,
    );
  }
  const index = kept ?? (await builtIndex(reader, options, REMOTE_CHUNK));
  return opened(reader, index, {
    indexed: kept === null ? "built" : "kept",
    original: true,
    remote: true,
    notes,
  });
}

function opened(
  reader: RangedReader,
  index: LibraryIndex,
  how: Pick<RecordFile, "indexed" | "original" | "remote" | "notes">,
): RecordFile {
  return { name: reader.name, reader, index, library: openIndexedLibrary(reader, index), ...how };
}

/** The index beside a file when it fits; else null, and why among the notes. */
async function keptIndex(
  bytes: AsyncIterable<Uint8Array>,
  reader: RangedReader,
  notes: string[],
): Promise<LibraryIndex | null> {
  const name = indexFileName(reader.name);
  let reason = "is out of date";
  try {
    const index = await readIndex(bytes, { file: name }, (identity) => isFresh(identity, reader));
    if (index !== null) return index;
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    reason = "is damaged";
  }
  notes.push(`${name} ${reason}: the index was rebuilt.`);
  return null;
}

function builtIndex(reader: RangedReader, options: OpenOptions, chunk?: number): Promise<LibraryIndex> {
  return indexOf(rangedChunks(reader, chunk), reader.name, reader.size, options);
}

function indexOf(
  chunks: AsyncIterable<Uint8Array>,
  file: string,
  total: number | null,
  { signal, onProgress }: OpenOptions,
): Promise<LibraryIndex> {
  return buildIndex(chunks, {
    file,
    ...(signal === undefined ? {} : { signal }),
    onProgress: ({ bytes }) => onProgress?.({ file, bytes, total }),
  });
}

/** Bytes that can be read once: kept in a blob, and indexed while they come. */
export async function spooled(
  chunks: AsyncIterable<Uint8Array>,
  name: string,
  total: number | null,
  options: OpenOptions,
): Promise<RecordFile> {
  const spool = new BlobSpool();
  const index = await indexOf(spool.through(chunks), name, total, options);
  const reader = blobReader(spool.blob(), name);
  return opened(reader, index, { indexed: "built", original: false, remote: false, notes: [] });
}

/** The index of a file as `gcopd index` writes it. */
export async function indexBlob(file: RecordFile): Promise<Blob> {
  return new Blob([...indexLines(file.index, await fileIdentity(file.reader))]);
}
