import type { Backend } from "./backend.ts";
import { type ModelConfig, mixerType } from "./config.ts";
import { notHere, type Reach } from "./packed-rows.ts";
import type { Qwen3_5Config } from "./qwen3-5-config.ts";
import { convolutionChannels } from "./qwen3-5-config.ts";
import type { Tensor } from "./tensor.ts";

/**
 * What the layers keep of the tokens so far: full attention the keys and values, [capacity, G, D] each; a Gated DeltaNet
 * its state [1,N,dk,dv] and the last K − 1 inputs of its convolution [K−1, channels].
 */
export class DecodingCache {
  readonly #layers: LayerCache[];

  constructor(backend: Backend, config: ModelConfig, capacity: number) {
    this.#layers = Array.from({ length: config.layers }, (_, layer) =>
      config.architecture === "qwen3_5" && mixerType(config, layer) === "linear_attention"
        ? new DeltaNetCache(backend, config)
        : new KeyValueCache(backend, config, capacity),
    );
  }

  /** Makes room for `length` tokens, at least doubling. Call it outside of a scope. */
  reserve(length: number): void {
    for (const layer of this.#layers) layer.reserve(length);
  }

  /** How `count` new tokens, the first at position `at`, reach those before: they are added to the cache of a layer. */
  reach(layer: number, at: number, count: number): Reach {
    return this.#layers[layer]!.reach(at, count);
  }

  dispose(): void {
    for (const layer of this.#layers) layer.dispose();
    this.#layers.length = 0;
  }
}

interface LayerCache {
  reserve(length: number): void;
  reach(at: number, count: number): Reach;
  dispose(): void;
}

class KeyValueCache implements LayerCache {
  #k: Tensor;
  #v: Tensor;
  #capacity: number;

  constructor(
    private readonly backend: Backend,
    private readonly config: ModelConfig,
    capacity: number,
  ) {
    this.#capacity = capacity;
    this.#k = this.#rows();
    this.#v = this.#rows();
  }

  #rows(): Tensor {
    return this.backend.zeros([this.#capacity, this.config.keyValueHeads, this.config.headSize]);
  }

  reserve(length: number): void {
    if (length <= this.#capacity) return;
    this.#capacity = Math.max(length, 2 * this.#capacity);
    const grow = (part: Tensor): Tensor => {
      const grown = this.#rows();
      this.backend.copyRows(grown, 0, part);
      this.backend.free(part);
      return grown;
    };
    this.#k = grow(this.#k);
    this.#v = grow(this.#v);
  }

  reach(at: number, count: number): Reach {
    const { backend } = this;
    return {
      attend: (q, k, v) => {
        backend.copyRows(this.#k, at, k);
        backend.copyRows(this.#v, at, v);
        const keys = {
          start: backend.zeros([count], "u32"),
          end: backend.fromArray(
            Uint32Array.from({ length: count }, (_, i) => at + i + 1),
            [count],
          ),
        };
        return backend.attention(q, this.#k, this.#v, keys);
      },
      convolve: notHere,
      recur: notHere,
    };
  }

  dispose(): void {
    this.backend.free(this.#k, this.#v);
  }
}

class DeltaNetCache implements LayerCache {
  readonly #state: Tensor;
  /** The last K − 1 inputs of the convolution; zeros stand for what lies before the start. */
  readonly #inputs: Tensor;

  constructor(
    private readonly backend: Backend,
    { deltaNet }: Qwen3_5Config,
  ) {
    const { valueHeads, keySize, valueSize, kernel } = deltaNet;
    this.#state = backend.zeros([1, valueHeads, keySize, valueSize]);
    this.#inputs = backend.zeros([kernel - 1, convolutionChannels(deltaNet)]);
  }

  reserve(): void {}

  reach(_at: number, count: number): Reach {
    const { backend } = this;
    const rows = (from: number, length: number) =>
      backend.fromArray(
        Uint32Array.from({ length }, (_, i) => from + i),
        [length],
      );
    return {
      attend: notHere,
      convolve: (x, w) => {
        const [before, channels] = this.#inputs.shape as [number, number];
        const extended = backend.zeros([before + count, channels]);
        backend.copyRows(extended, 0, this.#inputs);
        backend.copyRows(extended, before, x);
        backend.copyRows(this.#inputs, 0, backend.gatherRows(extended, rows(count, before)));
        const y = backend.causalConv(extended, w, backend.zeros([before + count], "u32"));
        return backend.gatherRows(y, rows(before, count));
      },
      recur: (q, k, v, gates) => {
        const sequences = backend.fromArray(Uint32Array.of(0, count), [2]);
        return backend.deltaRule(q, k, v, gates, sequences, this.#state);
      },
    };
  }

  dispose(): void {
    this.backend.free(this.#state, this.#inputs);
  }
}
