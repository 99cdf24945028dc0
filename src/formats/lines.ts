/** Lines of a UTF-8 byte stream, with their numbers and byte offsets. */
import { InputError } from "../core/errors.ts";
import { shownBytes } from "../core/shown-bytes.ts";
import { findByte, viewOf } from "./find-byte.ts";

/** One line as bytes, blank ones included. */
export interface ByteLine {
  /** Without the line feed. Valid only until the next line is asked for. */
  bytes: Uint8Array;
  /** From 1. */
  line: number;
  /** Byte offset of the line's start in the (decompressed) stream. */
  offset: number;
}

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
 * Bytes of the longest line: several times the largest record that is known (tens of megabytes), and little enough that
 * its bytes, its text and its value fit into a gigabyte together.
 */
export const LONGEST_LINE = 128 * 2 ** 20;

/** Splits a byte stream at line feeds, chunk by chunk. A line above `LONGEST_LINE` is an `InputError`. */
export class LineSplitter {
  #number = 0;
  #offset = 0;
  /** Pieces of a line that began in earlier chunks. */
  #pending: Uint8Array[] = [];
  #pendingBytes = 0;
  readonly #file: string;

  /** @param file shown in messages */
  constructor(file: string) {
    this.#file = file;
  }

  /** The lines that end in this chunk, which may be written to once they are all taken. */
  *lines(chunk: Uint8Array): Generator<ByteLine> {
    const view = viewOf(chunk);
    const find = (from: number) => findByte(view, chunk.length, LINE_FEED, from);
    let start = 0;
    for (let end = find(0); end !== -1; end = find(start)) {
      this.#checkLength(end - start);
      yield this.#finish(chunk.subarray(start, end));
      start = end + 1;
    }
    if (start < chunk.length) {
      this.#checkLength(chunk.length - start);
      this.#pending.push(new Uint8Array(chunk.subarray(start)));
      this.#pendingBytes += chunk.length - start;
    }
  }

  /** The last line, when the stream does not end with a line feed. */
  *rest(): Generator<ByteLine> {
    if (this.#pendingBytes > 0) yield this.#finish(new Uint8Array(0));
  }

  /** `more`: bytes that are about to join those of the line so far. */
  #checkLength(more: number): void {
    if (this.#pendingBytes + more <= LONGEST_LINE) return;
    throw new InputError(`longer than ${shownBytes(LONGEST_LINE)}, the most that one line may have`, {
      file: this.#file,
      line: this.#number + 1,
    });
  }

  #finish(last: Uint8Array): ByteLine {
    let bytes = last;
    if (this.#pendingBytes > 0) {
      bytes = new Uint8Array(this.#pendingBytes + last.length);
      let at = 0;
      for (const piece of this.#pending) {
        bytes.set(piece, at);
        at += piece.length;
      }
      bytes.set(last, at);
      this.#pending = [];
      this.#pendingBytes = 0;
    }
    this.#number++;
    const offset = this.#offset;
    this.#offset += bytes.length + 1;
    return { bytes, line: this.#number, offset };
  }
}

/**
 * Decodes lines strictly: a byte-order mark and malformed UTF-8 are an `InputError`. White lines are passed over at the
 * end of the stream only; one with a record after it is an `InputError`, since it usually means a damaged file.
 */
export class LineDecoder {
  readonly #decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  readonly #file: string;
  #firstBlank: number | undefined;

  constructor(file: string) {
    this.#file = file;
  }

  /** The line's text, or undefined for a white line. Lines must come in order, those known not to be white may not. */
  decode({ bytes, line }: ByteLine): string | undefined {
    if (line === 1 && bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) {
      throw new InputError("begins with a byte-order mark; expected UTF-8 without one", {
        file: this.#file,
        line: 1,
      });
    }
    let text: string;
    try {
      text = this.#decoder.decode(bytes);
    } catch {
      throw new InputError("not valid UTF-8", { file: this.#file, line });
    }
    if (text.trim() === "") {
      this.#firstBlank ??= line;
      return undefined;
    }
    this.noteRecord();
    return text;
  }

  /** Says that a line with something on it was read without `decode`. */
  noteRecord(): void {
    if (this.#firstBlank === undefined) return;
    throw new InputError("blank line between records; expected one JSON object per line", {
      file: this.#file,
      line: this.#firstBlank,
    });
  }
}

/** Lines with text on them, decoded; see `LineDecoder` for what is refused. */
export async function* readLines(chunks: AsyncIterable<Uint8Array>, file: string): AsyncGenerator<Line> {
  const splitter = new LineSplitter(file);
  const decoder = new LineDecoder(file);
  function* decoded(lines: Iterable<ByteLine>): Generator<Line> {
    for (const line of lines) {
      const text = decoder.decode(line);
      if (text !== undefined) yield { text, line: line.line, offset: line.offset, bytes: line.bytes.length };
    }
  }
  for await (const chunk of chunks) yield* decoded(splitter.lines(chunk));
  yield* decoded(splitter.rest());
}
