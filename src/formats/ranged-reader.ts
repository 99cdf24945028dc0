/** Random access to the bytes of one file: a file on disk, a `File` of a page (`slice`), an HTTP resource (`Range`). */
import { InputError } from "../core/errors.ts";

export interface RangedReader {
  /** Shown in messages. */
  readonly name: string;
  /** Length of the file in bytes, fixed when the reader was opened. */
  readonly size: number;
  /** When the file was last changed, in whole milliseconds since 1970, as of opening; null where that is unknown. */
  readonly modified: number | null;
  /**
   * Bytes [start, end) with 0 ≤ start ≤ end ≤ size, exactly that many. The array is the caller's: it is not written
   * to afterwards. Where `room` is given, which has room for them all, they may be written to its start, and the result
   * is then a view of it. Rejects with an `InputError` when the file has become shorter or cannot be read.
   */
  read(start: number, end: number, room?: Uint8Array): Promise<Uint8Array>;
}

/** A ranged reader over bytes in memory. */
export function rangedBytes(bytes: Uint8Array, name: string): RangedReader {
  return { name, size: bytes.length, modified: null, read: async (start, end) => bytes.subarray(start, end) };
}

/** A reader that is asked for a range reads exactly that range, or the file has changed under it. */
export async function readExactly(
  reader: RangedReader,
  start: number,
  end: number,
  room?: Uint8Array,
): Promise<Uint8Array> {
  const bytes = await reader.read(start, end, room);
  if (bytes.length !== end - start) {
    throw new InputError(
      `has become shorter while it was read: bytes ${start} to ${end} of ${reader.size} give ${bytes.length}`,
      { file: reader.name },
    );
  }
  return bytes;
}

/** Bytes asked for at once when a whole file is read. */
const CHUNK = 1 << 20;

/**
 * All bytes in order; a chunk is valid until the next one is asked for. One is read ahead, so that reading and the work
 * on what was read overlap: two buffers take turns, since new memory for every chunk costs more than reading it does.
 */
export async function* rangedChunks(reader: RangedReader, chunk = CHUNK): AsyncGenerator<Uint8Array> {
  const rooms = [0, 1].map(() => new Uint8Array(Math.min(chunk, reader.size)));
  const fetch = (start: number) =>
    readExactly(reader, start, Math.min(reader.size, start + chunk), rooms[(start / chunk) % 2]);
  if (reader.size === 0) return;
  let next: Promise<Uint8Array> | null = fetch(0);
  // A rejection is taken up by the await below; this only keeps one of a loop that ended early from being unhandled.
  next.catch(() => undefined);
  for (let start = 0; start < reader.size; start += chunk) {
    const bytes: Uint8Array = await next!;
    next = start + chunk < reader.size ? fetch(start + chunk) : null;
    next?.catch(() => undefined);
    yield bytes;
  }
}
