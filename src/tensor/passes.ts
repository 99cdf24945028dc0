import type { Backend } from "./backend.ts";
import { type ModelConfig, mixerType, normOffset } from "./config.ts";
import { joinRows } from "./device-rows.ts";
import { divergenceHead, type TeacherTarget } from "./distribution-tiles.ts";
import {
  activationTensors,
  type KeptActivations,
  keptActivations,
  keptTokens,
  type LayerTensors,
  layerBackward,
  layerForward,
} from "./layer.ts";
import type { MixerTensors } from "./mixer.ts";
import type { LinearBackward, PackRows, Reach, RowAngles } from "./packed-rows.ts";
import type { Pack } from "./packing.ts";
import { type LayerPrefix, prefixTensors } from "./prefix-store.ts";
import { RecurrentBackward } from "./recurrent-backward.ts";
import { RecurrentReach } from "./recurrent-reach.ts";
import type { KeyRange, Tensor } from "./tensor.ts";
import {
  ATTENTION_PARAMETERS,
  BLOCK_PARAMETERS,
  DELTA_NET_PARAMETERS,
  EMBEDDING,
  FINAL_NORM,
  HEAD,
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
export function arrangeTensors(config: ModelConfig, tensors: ReadonlyMap<string, Tensor>): ModelTensors {
  const of = (name: string): Tensor => tensors.get(name)!;
  const layers = Array.from({ length: config.layers }, (_, layer): LayerTensors => {
    const all = <K extends string>(names: Readonly<Record<K, string>>): Record<K, Tensor> => {
      const keys = Object.keys(names) as K[];
      const entries = keys.map((key) => [key, of(layerParameterName(layer, names[key]))]);
      return Object.fromEntries(entries) as Record<K, Tensor>;
    };
    const type = mixerType(config, layer);
    const mixer: MixerTensors =
      type === "full_attention"
        ? { type, tensors: all(ATTENTION_PARAMETERS) }
        : { type, tensors: all(DELTA_NET_PARAMETERS) };
    return { ...all(BLOCK_PARAMETERS), mixer };
  });
  return {
    embedding: of(EMBEDDING),
    layers,
    finalNorm: of(FINAL_NORM),
    head: of(config.tied ? EMBEDDING : HEAD),
  };
}

/**
 * Gradients that a backward pass finishes at one time: those of the last norm and of an untied head, of a layer (by its
 * place), or of the embedding, which is a tied head as well.
 */
export type GradientPart = "top" | number | "embedding";

/** All parts, in the order in which they are finished. */
export function gradientParts({ layers }: ModelConfig): GradientPart[] {
  return ["top", ...Array.from({ length: layers }, (_, i) => layers - 1 - i), "embedding"];
}

/** The tensors of one part. */
export function partTensors(g: ModelTensors, part: GradientPart): Tensor[] {
  if (part === "top") return g.head === g.embedding ? [g.finalNorm] : [g.finalNorm, g.head];
  if (part === "embedding") return [g.embedding];
  const { mixer, ...own } = g.layers[part]!;
  return [...Object.values<Tensor>(own), ...Object.values<Tensor>({ ...mixer.tensors })];
}

/** A pack on the device. */
interface Inputs {
  ids: Tensor;
  places: RowAngles;
  keys: KeyRange<Tensor>;
  /** u32 [S+1]: the first row of each sequence, then T. */
  sequences: Tensor;
  rows: Tensor;
  targets: Tensor;
}

function upload(backend: Backend, pack: Pack, tables: { cos: Tensor; sin: Tensor }): Inputs {
  const vector = (data: Uint32Array): Tensor => backend.fromArray(data, [data.length]);
  const keys: KeyRange<Tensor> = { start: vector(pack.start), end: vector(pack.end), pairs: seenPairs(pack) };
  if (pack.prefixStart !== null && pack.prefixEnd !== null) {
    keys.prefixStart = vector(pack.prefixStart);
    keys.prefixEnd = vector(pack.prefixEnd);
  }
  return {
    ids: vector(pack.ids),
    places: { ...tables, positions: vector(pack.positions) },
    keys,
    sequences: vector(Uint32Array.from([...pack.spans.map(({ first }) => first), pack.ids.length])),
    rows: vector(pack.rows),
    targets: vector(pack.targets),
  };
}

function seenPairs({ start, end, prefixStart, prefixEnd }: Pack): number {
  const seen = (from: Uint32Array | null, to: Uint32Array | null) =>
    from === null || to === null ? 0 : from.reduce((sum, first, i) => sum + to[i]! - first, 0);
  return seen(start, end) + seen(prefixStart, prefixEnd);
}

/** Rows reach rows of the pack alone. */
export function reachInPack(
  backend: Backend,
  { keys, sequences }: { keys: KeyRange<Tensor>; sequences: Tensor },
): Reach {
  return {
    attend: (q, k, v) => backend.attention(q, k, v, keys),
    convolve: (x, w) => backend.causalConv(x, w, keys.start),
    recur: (q, k, v, gates) => backend.deltaRule(q, k, v, gates, sequences),
  };
}

/** The hidden rows before each response token, normalised [R,d], ready for the head. */
function responseRows(
  backend: Backend,
  config: ModelConfig,
  w: ModelTensors,
  hidden: Tensor,
  rows: Tensor,
): { picked: Tensor; normed: Tensor; rstd: Tensor } {
  const picked = backend.gatherRows(hidden, rows);
  const { y, rstd } = backend.rmsNorm(picked, w.finalNorm, config.normEpsilon, normOffset(config));
  return { picked, normed: y, rstd };
}

/** What `headDistribution` tells of each response row. */
interface Distribution {
  entropy: Tensor;
  topIds: Tensor;
  topLogprobs: Tensor;
}

/**
 * Log-probabilities of a pack's targets [R]; no activation outlives its layer, except what the pack keeps of a prefix.
 * `stored` is what the layers left of the prefix that the pack takes from elsewhere. `top`: entropy and so many of the
 * most probable tokens as well. `wantsHidden`: what the head reads, [R, hidden size], as well.
 */
export function scorePass(
  backend: Backend,
  config: ModelConfig,
  w: ModelTensors,
  tables: { cos: Tensor; sin: Tensor },
  pack: Pack,
  stored: readonly LayerPrefix[] | null = null,
  top: number | null = null,
  wantsHidden = false,
): { logprobs: Tensor; distribution: Distribution | null; hidden: Tensor | null; kept: LayerPrefix[] } {
  return backend.scope((keep) => {
    const inputs = upload(backend, pack, tables);
    const kept: LayerPrefix[] = [];
    const recurrent = recurrentReach(backend, config, pack);
    let x = backend.embedding(w.embedding, inputs.ids);
    for (const [i, layer] of w.layers.entries()) {
      const y = backend.scope((keepLayer) => {
        const before = stored?.[i] ?? null;
        const way =
          layer.mixer.type === "full_attention"
            ? attentionReach(backend, inputs.keys, pack, before)
            : recurrent?.layer(before?.type === "linear_attention" ? before : null);
        const reach = { ...reachInPack(backend, inputs), ...way?.reach };
        const { y } = layerForward(backend, config, layer, x, inputs.places, reach);
        if (pack.keep !== null && way !== undefined) {
          const left = way.kept();
          for (const t of prefixTensors(left)) keepLayer(t);
          kept.push(left);
        }
        return keepLayer(y);
      });
      backend.free(x);
      x = y;
      backend.submitAhead();
    }
    const { normed } = responseRows(backend, config, w, x, inputs.rows);
    for (const t of kept.flatMap(prefixTensors)) keep(t);
    const { logprobs, lse } = backend.headLogprobs(normed, w.head, inputs.targets);
    const distribution = top === null ? null : backend.headDistribution(normed, w.head, lse, top);
    for (const t of Object.values<Tensor>({ ...distribution })) keep(t);
    const hidden = wantsHidden ? keep(normed) : null;
    return { logprobs: keep(logprobs), distribution, hidden, kept };
  });
}

/** The way of rows in linear layers of a pack with shared prefixes; null where rows only reach those of their sequence. */
function recurrentReach(backend: Backend, config: ModelConfig, pack: Pack): RecurrentReach | null {
  const shares = pack.keep !== null || pack.spans.some(({ shared }) => shared > 0);
  if (config.architecture !== "qwen3_5" || !shares) return null;
  return new RecurrentReach(backend, pack, config.deltaNet.kernel - 1);
}

/** The gradients of `reachInPack`. */
function backwardInPack(
  backend: Backend,
  { keys, sequences }: { keys: KeyRange<Tensor>; sequences: Tensor },
  queryEnd: Tensor,
): LinearBackward {
  return {
    convolve: (dw, dy, x, w) => backend.causalConvBackward(dw, dy, x, w, keys.start, queryEnd),
    recur: (dout, { q, k, v, gates, o, errors }) =>
      backend.deltaRuleBackward(dout, q, k, v, gates, sequences, o, errors),
  };
}

/** How rows reach keys of the pack and those before it, in a layer with full attention; as `RecurrentReach.layer`. */
function attentionReach(
  backend: Backend,
  keys: KeyRange<Tensor>,
  { keep }: Pack,
  stored: LayerPrefix | null,
): { reach: Pick<Reach, "attend">; kept: () => LayerPrefix } {
  let kept: LayerPrefix | undefined;
  return {
    reach: {
      attend: (q, k, v) => {
        if (keep !== null) {
          const rows = { at: keep.row, count: keep.prefix.ids.length };
          kept = { type: "full_attention", k: copyOf(backend, k, rows), v: copyOf(backend, v, rows) };
        }
        if (stored?.type !== "full_attention") return backend.attention(q, k, v, keys);
        const [allKeys, values] = [joinRows(backend, [stored.k, k]), joinRows(backend, [stored.v, v])];
        return backend.attention(q, allKeys, values, keys);
      },
    },
    kept: () => {
      if (kept === undefined) throw new Error("nothing of this layer is to be kept, or it was not computed");
      return kept;
    },
  };
}

/** Some rows of x [T,G,D] as a tensor of their own. */
function copyOf(backend: Backend, x: Tensor, { at, count }: { at: number; count: number }): Tensor {
  const rows = backend.fromArray(
    Uint32Array.from({ length: count }, (_, i) => at + i),
    [count],
  );
  return backend.gatherRows(x, rows);
}

/** A forward pass that can be followed by a backward pass. Free it with `dispose`, whatever happens. */
export class TrainingPass {
  readonly logprobs: Tensor;
  readonly #inputs: Inputs;
  /** Input of each layer, and what else it needs; null: to be computed again. */
  readonly #layers: { x: Tensor; activations: KeptActivations | null }[] = [];
  readonly #top: { hidden: Tensor; picked: Tensor; normed: Tensor; rstd: Tensor; lse: Tensor };
  readonly #reach: Reach;
  readonly #recurrent: RecurrentReach | null;
  #disposed = false;

  constructor(
    private readonly backend: Backend,
    private readonly config: ModelConfig,
    private readonly w: ModelTensors,
    tables: { cos: Tensor; sin: Tensor },
    private readonly pack: Pack,
    recompute?: boolean,
  ) {
    const keepAll = !(recompute ?? pack.ids.length > keptTokens(config, backend));
    // One scope around all: an error on the way frees everything made so far.
    const made = backend.scope((keep) => {
      const inputs = upload(backend, pack, tables);
      const recurrent = recurrentReach(backend, config, pack);
      const reach = { ...reachInPack(backend, inputs), ...recurrent?.layer(null).reach };
      let x = backend.embedding(w.embedding, inputs.ids);
      for (const layer of w.layers) {
        const { y, activations } = backend.scope((keepLayer) => {
          const result = layerForward(backend, config, layer, x, inputs.places, reach);
          const kept = keptActivations(result.activations);
          if (keepAll) for (const t of activationTensors(kept)) keepLayer(t);
          return { y: keepLayer(result.y), activations: kept };
        });
        this.#layers.push({ x, activations: keepAll ? activations : null });
        x = y;
        backend.submitAhead();
      }
      const rows = responseRows(backend, config, w, x, inputs.rows);
      const { logprobs, lse } = backend.headLogprobs(rows.normed, w.head, inputs.targets);
      const top = { hidden: x, ...rows, lse };
      const rowNumbers = recurrent?.tensors ?? [];
      for (const t of [...inputTensors(inputs), ...rowNumbers, ...Object.values(top), logprobs]) keep(t);
      for (const { x: input, activations } of this.#layers) {
        keep(input);
        if (activations !== null) for (const t of activationTensors(activations)) keep(t);
      }
      return { inputs, recurrent, reach, top, logprobs };
    });
    this.#inputs = made.inputs;
    this.#recurrent = made.recurrent;
    this.#reach = made.reach;
    this.#top = made.top;
    this.logprobs = made.logprobs;
  }

  /**
   * Adds the gradients of L to `g`, given dL/dlogprob of each response row. May be called once. `finished` is called, and
   * waited for, when a part of them has got all that this pass adds.
   */
  async backward(
    g: ModelTensors,
    coefficients: Float32Array,
    finished?: (part: GradientPart) => Promise<void>,
  ): Promise<void> {
    const { backend, w } = this;
    const { normed, lse } = this.#top;
    const dNormed = backend.scope((keep) => {
      const c = backend.fromArray(coefficients, [coefficients.length]);
      return keep(backend.headBackward(g.head, normed, w.head, this.#inputs.targets, lse, c));
    });
    await this.#backwardFrom(g, dNormed, finished);
  }

  /**
   * As `backward`, of L = Σ weight · KL of the response rows against their teacher's targets (`divergenceHead`).
   *
   * @returns [R] the KL of each row
   */
  async backwardDivergence(
    g: ModelTensors,
    targets: readonly TeacherTarget[],
    finished?: (part: GradientPart) => Promise<void>,
  ): Promise<Float32Array> {
    const { backend, w, pack } = this;
    if (pack.rows.length === 0) return new Float32Array(0);
    const rows = { normed: this.#top.normed, head: w.head };
    const { dNormed, kl } = await divergenceHead(backend, rows, g.head, pack, targets);
    if (pack.segments.some(({ index }) => targets[index]!.weights.some((weight) => weight !== 0)))
      await this.#backwardFrom(g, dNormed, finished);
    else backend.free(dNormed);
    return kl;
  }

  /** From the slopes of the normalised response rows, which are freed, down to the embedding. */
  async #backwardFrom(
    g: ModelTensors,
    dNormed: Tensor,
    finished?: (part: GradientPart) => Promise<void>,
  ): Promise<void> {
    const { backend, config, w, pack } = this;
    const { rows } = this.#inputs;
    const offset = normOffset(config);
    const top = this.#top;
    let dx: Tensor;
    try {
      dx = backend.scope((keep) => {
        const dPicked = backend.rmsNormBackward(
          g.finalNorm,
          dNormed,
          top.picked,
          w.finalNorm,
          top.rstd,
          null,
          offset,
        );
        return keep(backend.scatterRows(dPicked, rows, pack.ids.length));
      });
    } finally {
      backend.free(dNormed);
    }
    try {
      await finished?.("top");
      const { packRows, tensors } = this.#backwardRows();
      try {
        for (let i = this.#layers.length - 1; i >= 0; i--) {
          const { x, activations } = this.#layers[i]!;
          const weights = w.layers[i]!;
          const next = backend.scope((keep) => {
            const a: KeptActivations =
              activations ??
              layerForward(backend, config, weights, x, packRows.places, this.#reach).activations;
            return keep(layerBackward(backend, config, weights, g.layers[i]!, a, dx, packRows));
          });
          this.#layers.pop();
          backend.free(x, dx, ...(activations === null ? [] : activationTensors(activations)));
          dx = next;
          backend.submitAhead();
          await finished?.(i);
        }
        backend.embeddingBackward(g.embedding, pack.ids, dx);
        await finished?.("embedding");
      } finally {
        backend.free(...tensors);
      }
    } finally {
      backend.free(dx);
    }
  }

  /** Where the rows lie on the way back, with tensors that the caller frees. */
  #backwardRows(): { packRows: PackRows; tensors: readonly Tensor[] } {
    const { backend, config, pack } = this;
    const { places, keys } = this.#inputs;
    return backend.scope((keep) => {
      const queryEnd = keep(backend.fromArray(pack.queryEnd, [pack.queryEnd.length]));
      if (this.#recurrent === null || config.architecture !== "qwen3_5")
        return {
          packRows: { places, keys, queryEnd, linear: backwardInPack(backend, this.#inputs, queryEnd) },
          tensors: [queryEnd],
        };
      const linear = new RecurrentBackward(backend, pack, this.#recurrent.plan, config.deltaNet);
      for (const t of linear.tensors) keep(t);
      return { packRows: { places, keys, queryEnd, linear }, tensors: [queryEnd, ...linear.tensors] };
    });
  }

  dispose(): void {
    if (this.#disposed) return;
    this.#disposed = true;
    for (const { x, activations } of this.#layers) {
      this.backend.free(x);
      if (activations !== null) this.backend.free(...activationTensors(activations));
    }
    this.backend.free(...inputTensors(this.#inputs), ...(this.#recurrent?.tensors ?? []));
    this.backend.free(...Object.values(this.#top), this.logprobs);
  }
}

/** All but the tables of angles, which stay. */
function inputTensors({ ids, places, keys, sequences, rows, targets }: Inputs): Tensor[] {
  const { start, end, prefixStart, prefixEnd } = keys;
  const ranges = [start, end, prefixStart, prefixEnd].filter((t) => t !== undefined);
  return [ids, places.positions, ...ranges, sequences, rows, targets];
}
