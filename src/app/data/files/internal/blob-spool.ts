/** Bytes without a place of their own (unpacked, downloaded, imported) as one blob, which a browser may keep on disk. */

/** Chunks are gathered to parts of about this many bytes. */
const PART = 4 << 20;

export class BlobSpool {
  #parts: Blob[] = [];
  #pending: Uint8Array<ArrayBuffer>[] = [];
  #pendingBytes = 0;
  /** Bytes so far. */
  size = 0;

  /** Keeps a copy: the chunk may be written to afterwards. */
  add(chunk: Uint8Array): void {
    this.#pending.push(chunk.slice());
    this.#pendingBytes += chunk.length;
    this.size += chunk.length;
    if (this.#pendingBytes >= PART) this.#seal();
  }

  #seal(): void {
    this.#parts.push(new Blob(this.#pending));
    this.#pending = [];
    this.#pendingBytes = 0;
  }

  /** Hands every chunk on after it was kept. */
  async *through(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of chunks) {
      this.add(chunk);
      yield chunk;
    }
  }

  /** All that was kept. */
  blob(): Blob {
    this.#seal();
    const whole = new Blob(this.#parts);
    this.#parts = [whole];
    return whole;
  }
}
