/** Streaming writer of JSON Lines, gzip-compressed if asked. */

import { InputError } from "../core/errors.ts";
import { keyPath } from "../core/record/describe-issue.ts";

/** Bytes gathered before they are handed on. */
const BATCH = 1 << 16;

/** The path to a number that JSON would silently turn into null; undefined when there is none. */
function findNonFinite(value: unknown): PropertyKey[] | undefined {
  if (typeof value === "number") return Number.isFinite(value) ? undefined : [];
  if (typeof value !== "object" || value === null) return undefined;
  for (const key in value) {
    const found = findNonFinite((value as Record<string, unknown>)[key]);
    if (found !== undefined) return [Array.isArray(value) ? Number(key) : key, ...found];
  }
  return undefined;
}

/**
 * A value as JSON text. `InputError` for what that text cannot hold: files can nest deeper than can be written, and name
 * numbers beyond every double.
 */
export function jsonText(value: object): string {
  let text: string;
  try {
    text = JSON.stringify(value);
  } catch (error) {
    if (error instanceof RangeError) throw new InputError("nests too deeply, or is too long, to be written");
    throw error;
  }
  if (text.includes("null")) {
    const found = findNonFinite(value);
    if (found !== undefined) {
      throw new InputError("cannot be written as JSON: not a finite number", { key: keyPath(found) });
    }
  }
  return text;
}

/** One record as its line, line feed included. `InputError` as in `jsonText`. */
export function recordLine(record: object): string {
  return `${jsonText(record)}\n`;
}

async function* plain(
  records: Iterable<object> | AsyncIterable<object>,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const encoder = new TextEncoder();
  let batch = "";
  for await (const record of records) {
    batch += recordLine(record);
    if (batch.length >= BATCH) {
      yield encoder.encode(batch);
      batch = "";
    }
  }
  if (batch !== "") yield encoder.encode(batch);
}

/** `chunks` compressed as one gzip member. */
export async function* gzip(
  chunks: AsyncIterable<Uint8Array<ArrayBuffer>>,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const iterator = chunks[Symbol.asyncIterator]();
  const source = new ReadableStream<Uint8Array<ArrayBuffer>>({
    async pull(controller) {
      const next = await iterator.next();
      if (next.done) controller.close();
      else controller.enqueue(next.value);
    },
  });
  const reader = source.pipeThrough(new CompressionStream("gzip")).getReader();
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value;
  } finally {
    // Not cancelled: for data that it still holds, Node's compressor would then throw an error that nobody can catch.
    reader.releaseLock();
    await iterator.return?.();
  }
}

/** Records as JSON Lines, in order, with all their keys. */
export function writeRecords(
  records: Iterable<object> | AsyncIterable<object>,
  options: { gzip?: boolean } = {},
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  return options.gzip === true ? gzip(plain(records)) : plain(records);
}
