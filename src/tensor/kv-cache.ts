import type { Backend, Tensor } from "./backend.ts";
import type { Qwen3Config } from "./config.ts";
import type { Attend } from "./qwen3-layer.ts";

/** Keys and values of the tokens so far, for every layer, [capacity, G, D] each. */
export class KeyValueCache {
  readonly #layers: { k: Tensor; v: Tensor }[];
  #capacity: number;

  constructor(
    private readonly backend: Backend,
    private readonly config: Qwen3Config,
    capacity: number,
  ) {
    this.#capacity = capacity;
    this.#layers = Array.from({ length: config.layers }, () => ({ k: this.#rows(), v: this.#rows() }));
  }

  #rows(): Tensor {
    return this.backend.zeros([this.#capacity, this.config.keyValueHeads, this.config.headSize]);
  }

  /** Makes room for `length` tokens, at least doubling. Call it outside of a scope. */
  reserve(length: number): void {
    if (length <= this.#capacity) return;
    this.#capacity = Math.max(length, 2 * this.#capacity);
    for (const layer of this.#layers)
      for (const part of ["k", "v"] as const) {
        const grown = this.#rows();
        this.backend.copyRows(grown, 0, layer[part]);
        this.backend.free(layer[part]);
        layer[part] = grown;
      }
  }

  /** Attention of `count` new tokens, the first at position `at`, that adds them to the cache of a layer. */
  attend(layer: number, at: number, count: number): Attend {
    const { backend } = this;
    const cache = this.#layers[layer]!;
    return (q, k, v) => {
      backend.copyRows(cache.k, at, k);
      backend.copyRows(cache.v, at, v);
      const keys = {
        start: backend.zeros([count], "u32"),
        end: backend.fromArray(
          Uint32Array.from({ length: count }, (_, i) => at + i + 1),
          [count],
        ),
      };
      return backend.attention(q, cache.k, cache.v, keys);
    };
  }

  dispose(): void {
    for (const { k, v } of this.#layers) this.backend.free(k, v);
    this.#layers.length = 0;
  }
}
