import type { CommonConfig, SavedDtype } from "./common-config.ts";
import { type ConfigFields, MOST } from "./config-fields.ts";

/** Sizes and constants of a Qwen3 model: every layer mixes by full attention. */
export interface Qwen3Config extends CommonConfig {
  architecture: "qwen3";
}

/** Options that would change the numbers, and the values that are implemented. */
export const COMMON_OPTIONS: Readonly<Record<string, readonly unknown[]>> = {
  attention_bias: [false],
  hidden_act: ["silu"],
  attention_dropout: [0],
  quantization_config: [null],
};

/** The keys that every architecture has under the same names. */
export function readCommonConfig(fields: ConfigFields): Omit<CommonConfig, "ropeTheta"> {
  const config = {
    vocabularySize: fields.whole("vocab_size", MOST.vocabulary),
    hiddenSize: fields.whole("hidden_size", MOST.width),
    intermediateSize: fields.whole("intermediate_size", MOST.inner),
    layers: fields.whole("num_hidden_layers", MOST.layers),
    heads: fields.whole("num_attention_heads", MOST.heads),
    keyValueHeads: fields.whole("num_key_value_heads", MOST.heads),
    headSize: fields.whole("head_dim", MOST.headSize),
    normEpsilon: fields.positive("rms_norm_eps"),
    tied: fields.boolean("tie_word_embeddings"),
    maxPositions: fields.whole("max_position_embeddings", MOST.positions),
    source: fields.json,
  };
  if (config.heads % config.keyValueHeads !== 0)
    fields.fail(
      "num_key_value_heads",
      `${config.keyValueHeads} does not divide the ${config.heads} query heads`,
    );
  if (config.headSize % 2 !== 0) fields.fail("head_dim", `expected an even number, got ${config.headSize}`);
  return config;
}

/** Reads the older form of config.json (`rope_theta`, `torch_dtype`) or the newer (`rope_parameters`, `dtype`). */
export function parseQwen3Config(fields: ConfigFields): Qwen3Config {
  fields.architecture("Qwen3ForCausalLM");
  fields.refuseOthers({ ...COMMON_OPTIONS, use_sliding_window: [false] });
  const common = readCommonConfig(fields);
  fields.layerTypes(common.layers, ["full_attention"]);
  return { architecture: "qwen3", ...common, ropeTheta: fields.rope(null).theta };
}

/** For a new model the older form, which every version of transformers reads. */
export function qwen3ConfigJson(config: Qwen3Config, dtype: SavedDtype): Record<string, unknown> {
  const source = config.source ?? {
    architectures: ["Qwen3ForCausalLM"],
    model_type: "qwen3",
    vocab_size: config.vocabularySize,
    hidden_size: config.hiddenSize,
    intermediate_size: config.intermediateSize,
    num_hidden_layers: config.layers,
    num_attention_heads: config.heads,
    num_key_value_heads: config.keyValueHeads,
    head_dim: config.headSize,
    hidden_act: "silu",
    attention_bias: false,
    attention_dropout: 0,
    initializer_range: 0.02,
    max_position_embeddings: config.maxPositions,
    rms_norm_eps: config.normEpsilon,
    rope_scaling: null,
    rope_theta: config.ropeTheta,
    sliding_window: null,
    use_sliding_window: false,
    tie_word_embeddings: config.tied,
    torch_dtype: dtype,
    use_cache: true,
  };
  return { ...source, ["dtype" in source ? "dtype" : "torch_dtype"]: dtype };
}
