/** Record files for the commands, through their index: taken from beside the file, or built and kept there. */
import { InputError } from "../core/errors.ts";
import type { UnreadableRecord } from "../core/record/unreadable.ts";
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
} from "../formats/indexed/index.ts";
import { FORMATS } from "../formats/kinds.ts";
import { rangedChunks } from "../formats/ranged-reader.ts";
import { isThere } from "../node/file-error.ts";
import { openBytes, progress, writeOut } from "./io.ts";
import { openRanged, type RangedFile } from "./ranged-file.ts";

/** Files from this size on get their index beside them; that of a smaller one is built in a moment, each time. */
const KEEP_FROM = 16 << 20;

export interface IndexedFile {
  library: IndexedLibrary;
  /** Where the index came from. */
  index: "kept" | "built";
  /** Lines that hold no record, where they were asked for. */
  unreadable: readonly UnreadableRecord[];
  close(): Promise<void>;
}

/**
 * Opens a file of sources or episodes to be read a task at a time. An index beside it that is out of date or damaged is
 * rebuilt, with a note. `InputError` as the readers have it, for a record of the other kind, and for a file without
 * any: an export that failed leaves one, and nothing would be retrieved from it. With `unreadable: "list"` lines that
 * hold no record are listed, and those that do are in the library.
 */
export async function openIndexedFile(
  path: string,
  options: { kind?: "source" | "episode"; keepFrom?: number; unreadable?: "refuse" | "list" } = {},
): Promise<IndexedFile> {
  const file = await openRanged(path);
  try {
    const kept = file.original ? await keptIndex(path, file) : null;
    const unreadable: UnreadableRecord[] = [];
    const onUnreadable =
      options.unreadable === "list" ? (record: UnreadableRecord) => unreadable.push(record) : undefined;
    const index =
      kept ?? (await buildIndex(rangedChunks(file), { file: file.name, kind: options.kind, onUnreadable }));
    if (kept !== null) requireKind(kept, options.kind, file.name);
    // An index that lacks lines is not kept: whoever reads it later would not hear of them.
    else if (file.original && file.size >= (options.keepFrom ?? KEEP_FROM) && unreadable.length === 0)
      await keep(path, file, index);
    if (index.tasks.length === 0) {
      const [first] = unreadable;
      throw new InputError(first?.reason ?? "holds no records", { file: file.name, line: first?.line });
    }
    return {
      library: openIndexedLibrary(file, index),
      index: kept === null ? "built" : "kept",
      unreadable,
      close: () => file.close(),
    };
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** The index beside a file when it fits, else null. */
async function keptIndex(path: string, file: RangedFile): Promise<LibraryIndex | null> {
  const name = indexFileName(path);
  if (!isThere(name)) return null;
  let reason = "is out of date";
  try {
    const index = await readIndex(openBytes(name), { file: name }, (identity) => isFresh(identity, file));
    if (index !== null) return index;
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    reason = "is damaged";
  }
  progress(`gcopd: note: ${name} ${reason}: the index is rebuilt`);
  return null;
}

async function keep(path: string, file: RangedFile, index: LibraryIndex): Promise<void> {
  try {
    await writeIndexFile(path, file, index);
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    progress(`gcopd: note: the index is not kept: ${error.message}`);
  }
}

/** Writes the index of a file beside it. */
export async function writeIndexFile(path: string, file: RangedFile, index: LibraryIndex): Promise<void> {
  await writeOut(indexFileName(path), indexLines(index, await fileIdentity(file)));
}

function requireKind(index: LibraryIndex, kind: "source" | "episode" | undefined, file: string): void {
  if (kind === undefined) return;
  const other = kind === "source" ? "episode" : "source";
  const lines = index.tasks.flatMap((task) => task[`${other}s`].map(({ line }) => line));
  if (lines.length === 0) return;
  throw new InputError(`this is a record of kind ${other}; expected ${JSON.stringify(FORMATS[kind])}`, {
    file,
    line: lines.reduce((least, line) => Math.min(least, line)),
    key: "format",
  });
}
