import { InputError } from "../core/errors.ts";
import { seedOf, uniforms } from "../core/seeded.ts";
import type { Checkpoint } from "./checkpoint.ts";
import type { Qwen3Config } from "./config.ts";
import { elements } from "./shapes.ts";

export const EMBEDDING = "model.embed_tokens.weight";
export const FINAL_NORM = "model.norm.weight";
export const HEAD = "lm_head.weight";

/** Parameters of one layer by what they do; the values are the names in Hugging Face files. */
export const LAYER_PARAMETERS = {
  inputNorm: "input_layernorm.weight",
  query: "self_attn.q_proj.weight",
  key: "self_attn.k_proj.weight",
  value: "self_attn.v_proj.weight",
  queryNorm: "self_attn.q_norm.weight",
  keyNorm: "self_attn.k_norm.weight",
  output: "self_attn.o_proj.weight",
  postNorm: "post_attention_layernorm.weight",
  gate: "mlp.gate_proj.weight",
  up: "mlp.up_proj.weight",
  down: "mlp.down_proj.weight",
} as const;

export type LayerParameter = keyof typeof LAYER_PARAMETERS;

export function layerParameterName(layer: number, parameter: LayerParameter): string {
  return `model.layers.${layer}.${LAYER_PARAMETERS[parameter]}`;
}

/** Every parameter of the model with its shape, in a fixed order. A tied head has no entry of its own. */
export function parameterShapes(config: Qwen3Config): Map<string, readonly number[]> {
  const { vocabularySize, hiddenSize: d, intermediateSize: f, headSize } = config;
  const queries = config.heads * headSize;
  const keys = config.keyValueHeads * headSize;
  const layerShapes: Record<LayerParameter, readonly number[]> = {
    inputNorm: [d],
    query: [queries, d],
    key: [keys, d],
    value: [keys, d],
    queryNorm: [headSize],
    keyNorm: [headSize],
    output: [d, queries],
    postNorm: [d],
    gate: [f, d],
    up: [f, d],
    down: [d, f],
  };
  const shapes = new Map<string, readonly number[]>([[EMBEDDING, [vocabularySize, d]]]);
  for (let layer = 0; layer < config.layers; layer++)
    for (const [parameter, shape] of Object.entries(layerShapes))
      shapes.set(layerParameterName(layer, parameter as LayerParameter), shape);
  shapes.set(FINAL_NORM, [d]);
  if (!config.tied) shapes.set(HEAD, [vocabularySize, d]);
  return shapes;
}

/**
 * Compares the checkpoint's tensor names with the model's, before anything is read. A tied model may carry
 * `lm_head.weight` as well, as some published ones do, if it equals the embedding.
 */
export async function checkTensorNames(
  checkpoint: Checkpoint,
  config: Qwen3Config,
  signal?: AbortSignal,
): Promise<void> {
  const shapes = parameterShapes(config);
  for (const name of shapes.keys())
    if (!checkpoint.tensors.has(name)) throw new InputError("this tensor is missing", checkpoint.where(name));
  for (const name of checkpoint.tensors.keys()) {
    if (shapes.has(name)) continue;
    if (name !== HEAD)
      throw new InputError("a Qwen3 model of this config.json has no such tensor", checkpoint.where(name));
    if (!(await checkpoint.same(HEAD, EMBEDDING, shapes.get(EMBEDDING)!, signal)))
      throw new InputError(
        "differs from model.embed_tokens.weight, although config.json sets tie_word_embeddings",
        checkpoint.where(HEAD),
      );
  }
}

/** Values of a new parameter: normal(0, 0.02), and 1 for norms. The stream of each parameter has its own seed. */
export function initialValues(name: string, shape: readonly number[], seed: number): Float32Array {
  const values = new Float32Array(elements(shape));
  if (shape.length === 1) return values.fill(1);
  const uniform = uniforms(seedOf(`${seed} ${name}`));
  for (let i = 0; i < values.length; i += 2) {
    // Box–Muller; 1 − u lies in (0, 1].
    const radius = 0.02 * Math.sqrt(-2 * Math.log(1 - uniform()));
    const angle = 2 * Math.PI * uniform();
    values[i] = radius * Math.cos(angle);
    if (i + 1 < values.length) values[i + 1] = radius * Math.sin(angle);
  }
  return values;
}
