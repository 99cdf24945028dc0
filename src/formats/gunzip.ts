/**
 * Streaming gunzip. `DecompressionStream` refuses files of several members (what `cat a.gz b.gz` or an appending
 * writer leaves) in browsers, so this stands on pako, which reads them, checks every checksum and is as fast.
 */
import { Inflate } from "pako";
import { InputError } from "../core/errors.ts";

/** gzip as zlib counts it: 16 for the gzip wrapper, 15 bits of window. */
const GZIP_WINDOW_BITS = 31;
const OUTPUT_CHUNK = 1 << 16;
/** Bytes unpacked in one go: what they unpack to is in memory together, at most a thousand times as much. */
const INPUT_SLICE = 1 << 16;
/** Times its own size that a gzip file may unpack to. Recordings reach 20 to 100; gzip itself ends at 1,032. */
const MOST_RATIO = 500;
/** Bytes that a file may unpack to whatever its size: a short one of blank or equal lines has any ratio. */
const FREE_BYTES = 256 * 2 ** 20;

/** True when the bytes begin as gzip does. */
export function isGzip(head: Uint8Array): boolean {
  return head.length >= 2 && head[0] === 0x1f && head[1] === 0x8b;
}

/** Pieces of at most `INPUT_SLICE` bytes, none of them empty. */
async function* slices(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks)
    for (let start = 0; start < chunk.length; start += INPUT_SLICE)
      yield chunk.subarray(start, start + INPUT_SLICE);
}

/**
 * Decompressed chunks of a gzip stream of one or more members. `InputError` names `file` when it is cut or damaged, or
 * unpacks to more than any recording does.
 */
export async function* gunzip(chunks: AsyncIterable<Uint8Array>, file: string): AsyncGenerator<Uint8Array> {
  let ready: Uint8Array[] = [];
  let packed = 0;
  let unpacked = 0;
  const start = () => {
    const member = new Inflate({ windowBits: GZIP_WINDOW_BITS, chunkSize: OUTPUT_CHUNK });
    member.onData = (chunk) => {
      ready.push(chunk as Uint8Array);
    };
    return member;
  };
  let member = start();
  let padding = false;
  for await (const chunk of slices(chunks)) {
    if (member.ended) {
      // The last member ended with the chunk before. Zero bytes may pad the file's end; anything else is a new member.
      padding ||= chunk[0] === 0;
      if (padding) continue;
      member = start();
    }
    member.push(chunk);
    if (member.err !== 0) throw new InputError(`damaged gzip: ${member.msg}`, { file });
    packed += chunk.length;
    for (const piece of ready) unpacked += piece.length;
    if (unpacked > FREE_BYTES && unpacked > packed * MOST_RATIO)
      throw new InputError(
        `unpacks to more than ${MOST_RATIO} times its size, which no recording does; unpack it first if it is one`,
        { file },
      );
    yield* ready;
    ready = [];
  }
  if (!member.ended)
    throw new InputError("truncated gzip: the file ends before its compressed data does", { file });
}

/** `chunks` as they are, or decompressed when they begin with gzip's magic bytes. */
export async function* maybeGunzip(
  chunks: AsyncIterable<Uint8Array>,
  file: string,
): AsyncGenerator<Uint8Array> {
  const iterator = chunks[Symbol.asyncIterator]();
  let head: Uint8Array = new Uint8Array(0);
  let done = false;
  while (head.length < 2 && !done) {
    const next = await iterator.next();
    if (next.done) done = true;
    else if (head.length === 0) head = next.value;
    else if (next.value.length > 0) {
      const joined = new Uint8Array(head.length + next.value.length);
      joined.set(head);
      joined.set(next.value, head.length);
      head = joined;
    }
  }
  async function* all(): AsyncGenerator<Uint8Array> {
    try {
      if (head.length > 0) yield head;
      if (!done) yield* { [Symbol.asyncIterator]: () => iterator };
    } finally {
      await iterator.return?.();
    }
  }
  if (isGzip(head)) yield* gunzip(all(), file);
  else yield* all();
}
