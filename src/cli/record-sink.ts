/** Records pushed one at a time into a file that appears under its name only when all are written. */
import { recordLine } from "../formats/write.ts";
import { writeOut } from "./io.ts";

/** Characters gathered before they are handed on. */
const BATCH = 1 << 16;

export class RecordSink {
  readonly #writer: WritableStreamDefaultWriter<string>;
  readonly #done: Promise<void>;
  #batch = "";

  /** `path` as in `writeOut`: absent or `-` for standard output, `.gz` compressed. */
  constructor(path: string | undefined) {
    const { readable, writable } = new TransformStream<string, string>();
    this.#writer = writable.getWriter();
    this.#done = writeOut(path, chunksOf(readable));
    // Told by `push` and `close`; until one of them is called it must not end the process.
    // Nothing reads for an output that could not be opened: unless its stream is cancelled, `push` waits forever.
    this.#done.catch((error: unknown) => readable.cancel(error)).catch(() => undefined);
    this.#writer.closed.catch(() => undefined);
  }

  async push(record: object): Promise<void> {
    this.#batch += recordLine(record);
    if (this.#batch.length >= BATCH) await this.flush();
  }

  /** Hands on what was gathered. Throws what the writing of the file threw. */
  async flush(): Promise<void> {
    if (this.#batch === "") return;
    const batch = this.#batch;
    this.#batch = "";
    try {
      await this.#writer.write(batch);
    } catch {
      // A reader of standard output that went away ends the output quietly: then nothing is thrown here.
      await this.#done;
    }
  }

  /** Everything is written: the file gets its name. */
  async close(): Promise<void> {
    await this.flush();
    await this.#writer.close().catch(() => undefined);
    await this.#done;
  }

  /** Leaves nothing behind. */
  async discard(error: unknown): Promise<void> {
    await this.#writer.abort(error).catch(() => undefined);
    await this.#done.catch(() => undefined);
  }
}

/** The stream's texts in order; a reader that stops early cancels it. */
async function* chunksOf(readable: ReadableStream<string>): AsyncGenerator<string> {
  const reader = readable.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
