import type { Cards } from "./cards.ts";

/** Chunks as they come, as one stream a file. */
export class FileStream {
  readonly #queue: { file: string; slot: number; bytes: number | null }[] = [];
  #wake: () => void = () => {};
  #ended: { error: unknown } | null = null;

  constructor(private readonly cards: Cards) {}

  readonly push = (file: string, slot: number, bytes: number | null): void => {
    this.#queue.push({ file, slot, bytes });
    this.#wake();
  };

  end(error: unknown): void {
    this.#ended = { error };
    this.#wake();
  }

  /** The file of the next chunk; null when all are whole. */
  async nextFile(): Promise<string | null> {
    return (await this.#next())?.file ?? null;
  }

  /** The chunks of the present file. */
  async *chunks(): AsyncGenerator<Uint8Array> {
    for (;;) {
      const next = await this.#next();
      if (next === null) throw new Error("the card ended a file in the middle");
      this.#queue.shift();
      if (next.bytes === null) return;
      yield await this.cards.readChunk(next.slot, next.bytes);
    }
  }

  async #next() {
    while (this.#queue.length === 0) {
      if (this.#ended?.error != null) throw this.#ended.error;
      if (this.#ended !== null) return null;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    return this.#queue[0]!;
  }
}
