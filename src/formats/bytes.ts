/** Bytes as they come: from a file, a `Blob`, a response body or memory. */
export type ByteSource =
  | ReadableStream<Uint8Array>
  | AsyncIterable<Uint8Array>
  | Iterable<Uint8Array>
  | Uint8Array;

/** Longest slice handed on at once, so that one big buffer is not worked on in one go. */
const SLICE = 1 << 18;

/** The chunks of any byte source, in order. Ending the loop early releases the source. */
export async function* byteChunks(source: ByteSource): AsyncGenerator<Uint8Array> {
  if (source instanceof Uint8Array) {
    for (let start = 0; start < source.length; start += SLICE) yield source.subarray(start, start + SLICE);
    return;
  }
  if (Symbol.asyncIterator in source || Symbol.iterator in source) {
    yield* source;
    return;
  }
  // Safari's ReadableStream is not iterable.
  const reader = (source as ReadableStream<Uint8Array>).getReader();
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value;
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
