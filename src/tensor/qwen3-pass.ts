import type { Backend, KeyRange, Tensor } from "./backend.ts";
import type { Qwen3Config } from "./config.ts";
import type { Pack } from "./packing.ts";
import {
  type Attend,
  activationsPerToken,
  type LayerActivations,
  type LayerTensors,
  layerBackward,
  layerForward,
  type Places,
} from "./qwen3-layer.ts";
import {
  EMBEDDING,
  FINAL_NORM,
  HEAD,
  LAYER_PARAMETERS,
  type LayerParameter,
  layerParameterName,
} from "./weights.ts";

/** The parameters of a model, or their gradients. A tied head is the same tensor as the embedding. */
export interface ModelTensors {
  embedding: Tensor;
  layers: readonly LayerTensors[];
  finalNorm: Tensor;
  head: Tensor;
}

/** The flat map of tensors by name, as the layers use them. */
export function arrangeTensors(config: Qwen3Config, tensors: ReadonlyMap<string, Tensor>): ModelTensors {
  const of = (name: string): Tensor => tensors.get(name)!;
  const parameters = Object.keys(LAYER_PARAMETERS) as LayerParameter[];
  const layers = Array.from({ length: config.layers }, (_, layer) => {
    const entries = parameters.map((parameter) => [parameter, of(layerParameterName(layer, parameter))]);
    return Object.fromEntries(entries) as LayerTensors;
  });
  return {
    embedding: of(EMBEDDING),
    layers,
    finalNorm: of(FINAL_NORM),
    head: of(config.tied ? EMBEDDING : HEAD),
  };
}

/** Activations beyond this are computed again on the way back instead of kept. */
const MOST_KEPT_BYTES = 2 * 2 ** 30;

/** A pack on the device. */
interface Inputs {
  ids: Tensor;
  places: Places;
  keys: KeyRange<Tensor>;
  rows: Tensor;
  targets: Tensor;
}

function upload(backend: Backend, pack: Pack, tables: { cos: Tensor; sin: Tensor }): Inputs {
  const vector = (data: Uint32Array): Tensor => backend.fromArray(data, [data.length]);
  return {
    ids: vector(pack.ids),
    places: { ...tables, positions: vector(pack.positions) },
    keys: { start: vector(pack.start), end: vector(pack.end) },
    rows: vector(pack.rows),
    targets: vector(pack.targets),
  };
}

/** The hidden rows before each response token, normalised [R,d], ready for the head. */
function responseRows(
  backend: Backend,
  config: Qwen3Config,
  w: ModelTensors,
  hidden: Tensor,
  rows: Tensor,
): { picked: Tensor; normed: Tensor; rstd: Tensor } {
  const picked = backend.gatherRows(hidden, rows);
  const { y, rstd } = backend.rmsNorm(picked, w.finalNorm, config.normEpsilon);
  return { picked, normed: y, rstd };
}

/** Log-probabilities of a pack's targets [R]; no activation outlives its layer. */
export function scorePass(
  backend: Backend,
  config: Qwen3Config,
  w: ModelTensors,
  tables: { cos: Tensor; sin: Tensor },
  pack: Pack,
): Tensor {
  return backend.scope((keep) => {
    const inputs = upload(backend, pack, tables);
    const attend: Attend = (q, k, v) => backend.attention(q, k, v, inputs.keys);
    let x = backend.embedding(w.embedding, inputs.ids);
    for (const layer of w.layers) {
      const y = backend.scope((keepLayer) =>
        keepLayer(layerForward(backend, config, layer, x, inputs.places, attend).y),
      );
      backend.free(x);
      x = y;
      backend.flush();
    }
    const { normed } = responseRows(backend, config, w, x, inputs.rows);
    return keep(backend.headLogprobs(normed, w.head, inputs.targets).logprobs);
  });
}

/** A forward pass that can be followed by a backward pass. Free it with `dispose`, whatever happens. */
export class TrainingPass {
  readonly logprobs: Tensor;
  readonly #inputs: Inputs;
  /** Input of each layer, and what else it needs; null: to be computed again. */
  readonly #layers: { x: Tensor; activations: LayerActivations | null }[] = [];
  readonly #top: { hidden: Tensor; picked: Tensor; normed: Tensor; rstd: Tensor; lse: Tensor };
  readonly #attend: Attend;
  #disposed = false;

  constructor(
    private readonly backend: Backend,
    private readonly config: Qwen3Config,
    private readonly w: ModelTensors,
    tables: { cos: Tensor; sin: Tensor },
    private readonly pack: Pack,
    recompute?: boolean,
  ) {
    const bytes = 4 * activationsPerToken(config) * pack.ids.length * config.layers;
    const keepAll = !(recompute ?? bytes > MOST_KEPT_BYTES);
    // One scope around all: an error on the way frees everything made so far.
    const made = backend.scope((keep) => {
      const inputs = upload(backend, pack, tables);
      const attend: Attend = (q, k, v) => backend.attention(q, k, v, inputs.keys);
      let x = backend.embedding(w.embedding, inputs.ids);
      for (const layer of w.layers) {
        const { y, activations } = backend.scope((keepLayer) => {
          const result = layerForward(backend, config, layer, x, inputs.places, attend);
          if (keepAll) for (const t of tensorsOf(result.activations)) keepLayer(t);
          keepLayer(result.y);
          return result;
        });
        this.#layers.push({ x, activations: keepAll ? activations : null });
        x = y;
        backend.flush();
      }
      const rows = responseRows(backend, config, w, x, inputs.rows);
      const { logprobs, lse } = backend.headLogprobs(rows.normed, w.head, inputs.targets);
      const top = { hidden: x, ...rows, lse };
      for (const t of [...inputTensors(inputs), ...Object.values(top), logprobs]) keep(t);
      for (const { x: input, activations } of this.#layers) {
        keep(input);
        if (activations !== null) for (const t of tensorsOf(activations)) keep(t);
      }
      return { inputs, attend, top, logprobs };
    });
    this.#inputs = made.inputs;
    this.#attend = made.attend;
    this.#top = made.top;
    this.logprobs = made.logprobs;
  }

  /** Adds the gradients of L to `g`, given dL/dlogprob of each response row. May be called once. */
  backward(g: ModelTensors, coefficients: Float32Array): void {
    const { backend, w, pack } = this;
    const { places, keys, rows, targets } = this.#inputs;
    const top = this.#top;
    let dx = backend.scope((keep) => {
      const c = backend.fromArray(coefficients, [coefficients.length]);
      const dNormed = backend.headBackward(g.head, top.normed, w.head, targets, top.lse, c);
      const dPicked = backend.rmsNormBackward(g.finalNorm, dNormed, top.picked, w.finalNorm, top.rstd);
      return keep(backend.scatterRows(dPicked, rows, pack.ids.length));
    });
    try {
      const queryEnd = backend.fromArray(pack.queryEnd, [pack.queryEnd.length]);
      try {
        for (let i = this.#layers.length - 1; i >= 0; i--) {
          const { x, activations } = this.#layers[i]!;
          const weights = w.layers[i]!;
          const next = backend.scope((keep) => {
            const a =
              activations ?? layerForward(backend, this.config, weights, x, places, this.#attend).activations;
            return keep(layerBackward(backend, weights, g.layers[i]!, a, dx, places, keys, queryEnd));
          });
          this.#layers.pop();
          backend.free(x, dx, ...(activations === null ? [] : tensorsOf(activations)));
          dx = next;
          backend.flush();
        }
        backend.embeddingBackward(g.embedding, pack.ids, dx);
      } finally {
        backend.free(queryEnd);
      }
    } finally {
      backend.free(dx);
    }
  }

  dispose(): void {
    if (this.#disposed) return;
    this.#disposed = true;
    for (const { x, activations } of this.#layers) {
      this.backend.free(x);
      if (activations !== null) this.backend.free(...tensorsOf(activations));
    }
    this.backend.free(...inputTensors(this.#inputs), ...Object.values(this.#top), this.logprobs);
  }
}

/** All but the layer's input, which belongs to the layer before. */
function tensorsOf({ x: _input, ...own }: LayerActivations): Tensor[] {
  return Object.values(own);
}

/** All but the tables of angles, which stay. */
function inputTensors({ ids, places, keys, rows, targets }: Inputs): Tensor[] {
  return [ids, places.positions, keys.start, keys.end, rows, targets];
}
