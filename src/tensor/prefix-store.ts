import type { Backend, Tensor } from "./backend.ts";
import type { StoredPrefix } from "./packing.ts";

/** Keys after rotation and values of one layer, [tokens, G, D] each. */
export interface LayerKeys {
  k: Tensor;
  v: Tensor;
}

interface Entry {
  layers: LayerKeys[];
  bytes: number;
}

/**
 * Keys and values of the first tokens of sequences, for every layer. Those that the packs of a
 * call wait for stay until they had them; beyond that the least recently used are given up when all together exceed `budget` bytes.
 */
export class PrefixStore {
  /** The most recently used comes last. */
  readonly #entries = new Map<StoredPrefix, Entry>();
  readonly #pins = new Map<StoredPrefix, number>();

  constructor(
    private readonly backend: Backend,
    public budget: number,
  ) {}

  get prefixes(): StoredPrefix[] {
    return [...this.#entries.keys()];
  }

  get bytes(): number {
    return [...this.#entries.values()].reduce((sum, { bytes }) => sum + bytes, 0);
  }

  /** The layers of a prefix, which must be there. */
  layers(prefix: StoredPrefix): readonly LayerKeys[] {
    const entry = this.#entries.get(prefix);
    if (entry === undefined) throw new Error("PrefixStore: this prefix is not stored");
    this.#entries.delete(prefix);
    this.#entries.set(prefix, entry);
    return entry.layers;
  }

  /** Takes over the tensors. */
  add(prefix: StoredPrefix, layers: LayerKeys[]): void {
    const values = layers.flatMap(({ k, v }) => [k, v]);
    const bytes = values.reduce((sum, { shape }) => sum + 4 * shape.reduce((size, n) => size * n, 1), 0);
    this.#entries.set(prefix, { layers, bytes });
  }

  /** Holds prefixes, each as often as it is named, until they are unpinned as often; also before they are added. */
  pin(prefixes: readonly StoredPrefix[]): void {
    for (const prefix of prefixes) this.#pins.set(prefix, (this.#pins.get(prefix) ?? 0) + 1);
  }

  unpin(prefixes: readonly StoredPrefix[]): void {
    for (const prefix of prefixes) {
      const left = this.#pins.get(prefix)! - 1;
      if (left > 0) this.#pins.set(prefix, left);
      else this.#pins.delete(prefix);
    }
  }

  /** Gives up the least recently used beyond the budget, except those held. */
  trim(): void {
    let { bytes } = this;
    for (const [prefix, entry] of [...this.#entries]) {
      if (bytes <= this.budget) return;
      if (this.#pins.has(prefix)) continue;
      this.#drop(prefix, entry);
      bytes -= entry.bytes;
    }
  }

  /** Gives up all of them: the parameters have changed. */
  clear(): void {
    for (const [prefix, entry] of [...this.#entries]) this.#drop(prefix, entry);
  }

  #drop(prefix: StoredPrefix, { layers }: Entry): void {
    for (const { k, v } of layers) this.backend.free(k, v);
    this.#entries.delete(prefix);
  }
}
