import type { Backend } from "./backend.ts";
import { type ModelConfig, mixerType } from "./config.ts";
import type { StoredPrefix } from "./packing.ts";
import { convolutionChannels } from "./qwen3-5-config.ts";
import { SHORTEST_PREFIX } from "./shared-prefix.ts";
import type { Tensor } from "./tensor.ts";

/**
 * What one layer leaves of a prefix. Full attention: keys after rotation and values, [tokens, G, D] each. A linear layer,
 * for each of the prefix's points: the state [points, N·dk·dv], and the last K − 1 inputs of the convolution
 * [points·(K−1), C].
 */
export type LayerPrefix =
  | { type: "full_attention"; k: Tensor; v: Tensor }
  | { type: "linear_attention"; states: Tensor; inputs: Tensor };

/** The tensors of what a layer leaves. */
export function prefixTensors(layer: LayerPrefix): Tensor[] {
  return layer.type === "full_attention" ? [layer.k, layer.v] : [layer.states, layer.inputs];
}

/** Bytes that kept prefixes take for a token, at the most about: that every shortest one had a point of its own. */
export function prefixBytesPerToken(config: ModelConfig): number {
  const keys = 2 * config.keyValueHeads * config.headSize;
  let point = 0;
  if (config.architecture === "qwen3_5") {
    const { valueHeads, keySize, valueSize, kernel } = config.deltaNet;
    point = valueHeads * keySize * valueSize + (kernel - 1) * convolutionChannels(config.deltaNet);
  }
  let values = 0;
  for (let layer = 0; layer < config.layers; layer++)
    values += mixerType(config, layer) === "full_attention" ? keys : point / SHORTEST_PREFIX;
  return 4 * values;
}

interface Entry {
  layers: LayerPrefix[];
  bytes: number;
}

/**
 * What the layers leave of the first tokens of sequences. Those that the packs of a call wait for stay until they had
 * them; beyond that the least recently used are given up when all together exceed `budget` bytes.
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
  layers(prefix: StoredPrefix): readonly LayerPrefix[] {
    const entry = this.#entries.get(prefix);
    if (entry === undefined) throw new Error("PrefixStore: this prefix is not stored");
    this.#entries.delete(prefix);
    this.#entries.set(prefix, entry);
    return entry.layers;
  }

  /** Takes over the tensors. */
  add(prefix: StoredPrefix, layers: LayerPrefix[]): void {
    const values = layers.flatMap(prefixTensors);
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
    this.backend.free(...layers.flatMap(prefixTensors));
    this.#entries.delete(prefix);
  }
}
