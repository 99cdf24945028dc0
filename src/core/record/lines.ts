/** Lines of a UTF-8 byte stream, of any length, with their numbers and byte offsets. */
import { InputError } from "../errors.ts";

export interface Line {
  text: string;
  /** From 1. */
  line: number;
  /** Byte offset of the line's start in the (decompressed) stream. */
  offset: number;
  /** Bytes of the line, without its line feed. */
  bytes: number;
}

const LINE_FEED = 0x0a;

/**
 * Splits at line feeds and decodes strictly: a byte-order mark and malformed UTF-8 are an `InputError`. White lines are
 * passed over at the end of the stream only; one with a record after it is an `InputError`, since it usually means a
 * damaged file.
 */
export async function* readLines(chunks: AsyncIterable<Uint8Array>, file: string): AsyncGenerator<Line> {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  let number = 0;
  let offset = 0;
  let firstBlank: number | undefined;
  /** Pieces of a line that began in earlier chunks. */
  let pending: Uint8Array[] = [];
  let pendingBytes = 0;

  const finish = (last: Uint8Array): Line | undefined => {
    number++;
    let bytes = last;
    if (pendingBytes > 0) {
      bytes = new Uint8Array(pendingBytes + last.length);
      let at = 0;
      for (const piece of pending) {
        bytes.set(piece, at);
        at += piece.length;
      }
      bytes.set(last, at);
      pending = [];
      pendingBytes = 0;
    }
    const start = offset;
    offset += bytes.length + 1;
    if (number === 1 && bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) {
      throw new InputError("begins with a byte-order mark; expected UTF-8 without one", { file, line: 1 });
    }
    let text: string;
    try {
      text = decoder.decode(bytes);
    } catch {
      throw new InputError("not valid UTF-8", { file, line: number });
    }
    if (text.trim() === "") {
      firstBlank ??= number;
      return undefined;
    }
    if (firstBlank !== undefined) {
      throw new InputError("blank line between records; expected one JSON object a line", {
        file,
        line: firstBlank,
      });
    }
    return { text, line: number, offset: start, bytes: bytes.length };
  };

  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(LINE_FEED); end !== -1; end = chunk.indexOf(LINE_FEED, start)) {
      const line = finish(chunk.subarray(start, end));
      if (line !== undefined) yield line;
      start = end + 1;
    }
    if (start < chunk.length) {
      pending.push(chunk.subarray(start));
      pendingBytes += chunk.length - start;
    }
  }
  if (pendingBytes > 0) {
    const line = finish(new Uint8Array(0));
    if (line !== undefined) yield line;
  }
}
