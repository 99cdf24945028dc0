import { InputError } from "../core/errors.ts";
import { seedOf, uniforms } from "../core/seeded.ts";
import type { Checkpoint } from "./checkpoint.ts";
import { hasOutputGate, type ModelConfig, mixerType, normOffset } from "./config.ts";
import type { DeltaNetSizes } from "./qwen3-5-config.ts";
import { convolutionChannels } from "./qwen3-5-config.ts";
import { elements } from "./shapes.ts";

export const EMBEDDING = "model.embed_tokens.weight";
export const FINAL_NORM = "model.norm.weight";
export const HEAD = "lm_head.weight";

/** Parameters of every layer by what they do; the values are the names in Hugging Face files. */
export const BLOCK_PARAMETERS = {
  inputNorm: "input_layernorm.weight",
  postNorm: "post_attention_layernorm.weight",
  gate: "mlp.gate_proj.weight",
  up: "mlp.up_proj.weight",
  down: "mlp.down_proj.weight",
} as const;

/** Parameters of a layer that mixes by full attention. */
export const ATTENTION_PARAMETERS = {
  query: "self_attn.q_proj.weight",
  key: "self_attn.k_proj.weight",
  value: "self_attn.v_proj.weight",
  queryNorm: "self_attn.q_norm.weight",
  keyNorm: "self_attn.k_norm.weight",
  output: "self_attn.o_proj.weight",
} as const;

/** Parameters of a layer that is a Gated DeltaNet. */
export const DELTA_NET_PARAMETERS = {
  qkv: "linear_attn.in_proj_qkv.weight",
  z: "linear_attn.in_proj_z.weight",
  a: "linear_attn.in_proj_a.weight",
  b: "linear_attn.in_proj_b.weight",
  conv: "linear_attn.conv1d.weight",
  decay: "linear_attn.A_log",
  timeBias: "linear_attn.dt_bias",
  norm: "linear_attn.norm.weight",
  output: "linear_attn.out_proj.weight",
} as const;

export type BlockParameter = keyof typeof BLOCK_PARAMETERS;
export type AttentionParameter = keyof typeof ATTENTION_PARAMETERS;
export type DeltaNetParameter = keyof typeof DELTA_NET_PARAMETERS;

/** The name of a layer's parameter in a Hugging Face checkpoint; layers count from 0. */
export function layerParameterName(layer: number, name: string): string {
  return `model.layers.${layer}.${name}`;
}

type Shapes<K extends string> = Record<K, readonly number[]>;

function attentionShapes(config: ModelConfig): Shapes<AttentionParameter> {
  const { hiddenSize: d, headSize } = config;
  const queries = config.heads * headSize;
  const keys = config.keyValueHeads * headSize;
  return {
    query: [hasOutputGate(config) ? 2 * queries : queries, d],
    key: [keys, d],
    value: [keys, d],
    queryNorm: [headSize],
    keyNorm: [headSize],
    output: [d, queries],
  };
}

function deltaNetShapes(d: number, sizes: DeltaNetSizes): Shapes<DeltaNetParameter> {
  const { valueHeads, valueSize, kernel } = sizes;
  const channels = convolutionChannels(sizes);
  return {
    qkv: [channels, d],
    z: [valueHeads * valueSize, d],
    a: [valueHeads, d],
    b: [valueHeads, d],
    conv: [channels, 1, kernel],
    decay: [valueHeads],
    timeBias: [valueHeads],
    norm: [valueSize],
    output: [d, valueHeads * valueSize],
  };
}

/** Every parameter of the model with its shape, in a fixed order. A tied head has no entry of its own. */
export function parameterShapes(config: ModelConfig): Map<string, readonly number[]> {
  const { vocabularySize, hiddenSize: d, intermediateSize: f } = config;
  const shapes = new Map<string, readonly number[]>([[EMBEDDING, [vocabularySize, d]]]);
  for (let layer = 0; layer < config.layers; layer++) {
    const add = (name: string, shape: readonly number[]) =>
      shapes.set(layerParameterName(layer, name), shape);
    const addAll = <K extends string>(names: Readonly<Record<K, string>>, of: Shapes<K>) => {
      for (const key of Object.keys(names) as K[]) add(names[key], of[key]);
    };
    add(BLOCK_PARAMETERS.inputNorm, [d]);
    if (config.architecture === "qwen3_5" && mixerType(config, layer) === "linear_attention")
      addAll(DELTA_NET_PARAMETERS, deltaNetShapes(d, config.deltaNet));
    else addAll(ATTENTION_PARAMETERS, attentionShapes(config));
    add(BLOCK_PARAMETERS.postNorm, [d]);
    add(BLOCK_PARAMETERS.gate, [f, d]);
    add(BLOCK_PARAMETERS.up, [f, d]);
    add(BLOCK_PARAMETERS.down, [d, f]);
  }
  shapes.set(FINAL_NORM, [d]);
  if (!config.tied) shapes.set(HEAD, [vocabularySize, d]);
  return shapes;
}

/** A composite checkpoint has its text tensors under this name, and so may a text model that was saved from one. */
const COMPOSITE_PREFIX = "model.language_model.";
/** The other parts of a composite: a vision tower, and a draft head for several tokens. Text use ignores both. */
const OTHER_PARTS = ["model.visual.", "mtp."];

/** The name in the checkpoint of each parameter: the same, or the composite's long one. */
export function storedNames(checkpoint: Checkpoint, config: ModelConfig): (parameter: string) => string {
  const long = (name: string) => name.replace(/^model\./, COMPOSITE_PREFIX);
  const composite = config.architecture === "qwen3_5" && checkpoint.tensors.has(long(EMBEDDING));
  return composite ? long : (name) => name;
}

/**
 * Compares the checkpoint's tensor names with the model's, before anything is read. A tied model may carry
 * `lm_head.weight` as well, as some published ones do, if it equals the embedding.
 */
export async function checkTensorNames(
  checkpoint: Checkpoint,
  config: ModelConfig,
  signal?: AbortSignal,
): Promise<void> {
  const stored = storedNames(checkpoint, config);
  const shapes = parameterShapes(config);
  const names = new Set([...shapes.keys()].map(stored));
  for (const name of names)
    if (!checkpoint.tensors.has(name)) throw new InputError("this tensor is missing", checkpoint.where(name));
  for (const name of checkpoint.tensors.keys()) {
    if (names.has(name)) continue;
    if (config.architecture === "qwen3_5" && OTHER_PARTS.some((part) => name.startsWith(part))) continue;
    if (name !== HEAD)
      throw new InputError("a model of this config.json has no such tensor", checkpoint.where(name));
    const embedding = stored(EMBEDDING);
    if (!(await checkpoint.same(HEAD, embedding, shapes.get(EMBEDDING)!, signal)))
      throw new InputError(
        `differs from ${embedding}, although config.json sets tie_word_embeddings`,
        checkpoint.where(HEAD),
      );
  }
}

/** Parameters that published checkpoints keep in f32, whatever the others have: their rounding is felt in every token. */
export function staysF32(name: string): boolean {
  return name.endsWith(DELTA_NET_PARAMETERS.decay) || name.endsWith(DELTA_NET_PARAMETERS.norm);
}

/**
 * Values of a new parameter, as transformers begins: normal(0, 0.02); norms that multiply by 1; in a Gated DeltaNet
 * exp(A_log) even in (0, 16) and dt_bias 1. The stream of each parameter has its own seed.
 */
export function initialValues(
  config: ModelConfig,
  name: string,
  shape: readonly number[],
  seed: number,
): Float32Array {
  const values = new Float32Array(elements(shape));
  const uniform = uniforms(seedOf(`${seed} ${name}`));
  // 1 − u lies in (0, 1].
  if (name.endsWith(DELTA_NET_PARAMETERS.decay)) return values.map(() => Math.log(16 * (1 - uniform())));
  if (name.endsWith(DELTA_NET_PARAMETERS.timeBias) || name.endsWith(DELTA_NET_PARAMETERS.norm))
    return values.fill(1);
  if (shape.length === 1) return values.fill(1 - normOffset(config));
  for (let i = 0; i < values.length; i += 2) {
    // Box–Muller
    const radius = 0.02 * Math.sqrt(-2 * Math.log(1 - uniform()));
    const angle = 2 * Math.PI * uniform();
    values[i] = radius * Math.cos(angle);
    if (i + 1 < values.length) values[i + 1] = radius * Math.sin(angle);
  }
  return values;
}
