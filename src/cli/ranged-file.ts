/** Random access to the bytes of a file for the commands. What has none (gzip, pipes) is unpacked first. */
import { randomBytes } from "node:crypto";
import { type FileHandle, open, rm, unlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isGzip, maybeGunzip } from "../formats/gunzip.ts";
import { type RangedReader, rangedBytes } from "../formats/ranged-reader.ts";
import { onFile } from "../node/file-error.ts";
import { fileLabel, openBytes } from "./io.ts";

export interface RangedFile extends RangedReader {
  /** False for an unpacked copy: an index of it is of no use beside the original. */
  readonly original: boolean;
  close(): Promise<void>;
}

/** Unpacked bytes that are kept in memory; more than that goes to a file without a name. */
const IN_MEMORY = 64 << 20;

/**
 * Opens a file by ranges. `-`, pipes and gzip-compressed files are unpacked: to memory up to 64 MiB, beyond that to a
 * temporary file that has no name and so never stays behind. `InputError` when there is no such file, or it is a folder.
 */
export async function openRanged(path: string, inMemory = IN_MEMORY): Promise<RangedFile> {
  if (path === "-") return unpack(path, inMemory);
  const handle = await onFile(path, "read", open(path, "r"));
  try {
    const info = await onFile(path, "read", handle.stat());
    if (!info.isFile() && !info.isDirectory()) {
      await onFile(path, "read", handle.close());
      return await unpack(path, inMemory);
    }
    const reader = handleReader(handle, fileLabel(path), info.size, Math.floor(info.mtimeMs));
    // A folder fails here, with the system's own reason.
    if (isGzip(await reader.read(0, Math.min(2, Math.max(info.size, 1))))) {
      await onFile(path, "read", handle.close());
      return await unpack(path, inMemory);
    }
    return { ...reader, original: true, close: () => onFile(path, "read", handle.close()) };
  } catch (error) {
    await handle.close().catch(() => undefined);
    throw error;
  }
}

function handleReader(handle: FileHandle, name: string, size: number, modified: number | null): RangedReader {
  const read = async (start: number, end: number, room?: Uint8Array): Promise<Uint8Array> => {
    const bytes = room?.subarray(0, end - start) ?? new Uint8Array(end - start);
    let filled = 0;
    while (filled < bytes.length) {
      const { bytesRead } = await onFile(
        name,
        "read",
        handle.read(bytes, filled, bytes.length - filled, start + filled),
      );
      if (bytesRead === 0) break;
      filled += bytesRead;
    }
    return bytes.subarray(0, filled);
  };
  return { name, size, modified, read };
}

async function unpack(path: string, inMemory: number): Promise<RangedFile> {
  const name = fileLabel(path);
  let pieces: Uint8Array[] = [];
  let size = 0;
  let spool: FileHandle | undefined;
  const temporary = join(tmpdir(), `gcopd-${randomBytes(6).toString("hex")}.part`);
  try {
    for await (const chunk of maybeGunzip(openBytes(path), name)) {
      size += chunk.length;
      if (spool === undefined && size > inMemory) {
        spool = await onFile(temporary, "write", open(temporary, "wx+"));
        await onFile(temporary, "write", unlink(temporary));
        for (const piece of pieces) await onFile(temporary, "write", spool.appendFile(piece));
        pieces = [];
      }
      if (spool === undefined) pieces.push(chunk.slice());
      else await onFile(temporary, "write", spool.appendFile(chunk));
    }
  } catch (error) {
    await spool?.close().catch(() => undefined);
    // Where it could not lose its name at first.
    if (spool !== undefined) await rm(temporary, { force: true }).catch(() => undefined);
    throw error;
  }
  if (spool !== undefined) {
    const handle = spool;
    return {
      ...handleReader(handle, name, size, null),
      original: false,
      close: () => onFile(temporary, "read", handle.close()),
    };
  }
  const bytes = new Uint8Array(size);
  let at = 0;
  for (const piece of pieces) {
    bytes.set(piece, at);
    at += piece.length;
  }
  return { ...rangedBytes(bytes, name), original: false, close: async () => undefined };
}
