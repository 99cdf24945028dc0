import type { CommonConfig, MixerType, SavedDtype } from "./common-config.ts";
import { type ConfigFields, MOST } from "./config-fields.ts";
import { COMMON_OPTIONS, readCommonConfig } from "./qwen3-config.ts";

/** Sizes of a Gated DeltaNet layer. */
export interface DeltaNetSizes {
  /** Key heads; divide the value heads. */
  keyHeads: number;
  valueHeads: number;
  /** dk */
  keySize: number;
  /** dv */
  valueSize: number;
  /** K: taps of the causal convolution. */
  kernel: number;
}

/** Sizes and constants of the text part of a Qwen3.5 model. */
export interface Qwen3_5Config extends CommonConfig {
  architecture: "qwen3_5";
  /** Numbers at the beginning of each head that turn; even. */
  rotarySize: number;
  /** How each layer mixes tokens. */
  mixers: readonly MixerType[];
  deltaNet: DeltaNetSizes;
}

/** Where config.json says nothing, as transformers takes it. */
const DEFAULT_PARTIAL_ROTARY = 0.25;
const DEFAULT_INTERVAL = 4;

/** Reads the flat config.json of the language model alone (`qwen3_5_text`). */
export function parseQwen3_5TextConfig(fields: ConfigFields): Qwen3_5Config {
  fields.architecture("Qwen3_5ForCausalLM");
  return readTextConfig(fields);
}

/** Reads config.json of the composite with a vision tower (`qwen3_5`): the text settings under `text_config`. */
export function parseQwen3_5Config(fields: ConfigFields): Qwen3_5Config {
  fields.architecture("Qwen3_5ForConditionalGeneration");
  fields.refuseOthers({ quantization_config: [null] });
  const text = fields.object("text_config");
  if (text.has("model_type") && text.json["model_type"] !== "qwen3_5_text")
    text.fail("model_type", `expected "qwen3_5_text", got ${text.shown("model_type")}`);
  const key = "tie_word_embeddings";
  if (!text.has(key)) return readTextConfig(text.with({ [key]: fields.boolean(key) }));
  if (fields.has(key) && fields.boolean(key) !== text.boolean(key))
    fields.fail(key, `${fields.shown(key)} contradicts text_config, where it is ${text.shown(key)}`);
  return readTextConfig(text);
}

function readTextConfig(fields: ConfigFields): Qwen3_5Config {
  fields.refuseOthers({
    ...COMMON_OPTIONS,
    use_sliding_window: [false],
    attn_output_gate: [true],
    mamba_ssm_dtype: ["float32"],
  });
  const common = readCommonConfig(fields);
  const { theta, partial } = fields.rope(DEFAULT_PARTIAL_ROTARY);
  const rotarySize = common.headSize * partial;
  if (!Number.isInteger(rotarySize / 2))
    fields.fail(
      "partial_rotary_factor",
      `${partial} of head_dim ${common.headSize} is ${rotarySize}; expected an even number`,
    );
  const deltaNet: DeltaNetSizes = {
    keyHeads: fields.whole("linear_num_key_heads", MOST.heads),
    valueHeads: fields.whole("linear_num_value_heads", MOST.heads),
    keySize: fields.whole("linear_key_head_dim", MOST.headSize),
    valueSize: fields.whole("linear_value_head_dim", MOST.headSize),
    kernel: fields.whole("linear_conv_kernel_dim", MOST.kernel),
  };
  if (deltaNet.valueHeads % deltaNet.keyHeads !== 0)
    fields.fail(
      "linear_num_value_heads",
      `${deltaNet.valueHeads} is not a multiple of the ${deltaNet.keyHeads} key heads`,
    );
  return {
    architecture: "qwen3_5",
    ...common,
    ropeTheta: theta,
    rotarySize,
    mixers: readMixers(fields, common.layers),
    deltaNet,
  };
}

function readMixers(fields: ConfigFields, layers: number): MixerType[] {
  const given = fields.layerTypes(layers, ["linear_attention", "full_attention"]);
  if (given !== null) return given;
  const interval = fields.has("full_attention_interval")
    ? fields.whole("full_attention_interval", MOST.layers)
    : DEFAULT_INTERVAL;
  return Array.from({ length: layers }, (_, i) =>
    (i + 1) % interval === 0 ? "full_attention" : "linear_attention",
  );
}

/** The flat form: what is saved is the language model alone, whatever was read. */
export function qwen3_5ConfigJson(config: Qwen3_5Config, dtype: SavedDtype): Record<string, unknown> {
  const { deltaNet, headSize } = config;
  const source = config.source ?? {
    vocab_size: config.vocabularySize,
    hidden_size: config.hiddenSize,
    intermediate_size: config.intermediateSize,
    num_hidden_layers: config.layers,
    num_attention_heads: config.heads,
    num_key_value_heads: config.keyValueHeads,
    head_dim: headSize,
    hidden_act: "silu",
    attention_bias: false,
    attention_dropout: 0,
    attn_output_gate: true,
    initializer_range: 0.02,
    layer_types: config.mixers,
    linear_conv_kernel_dim: deltaNet.kernel,
    linear_key_head_dim: deltaNet.keySize,
    linear_num_key_heads: deltaNet.keyHeads,
    linear_num_value_heads: deltaNet.valueHeads,
    linear_value_head_dim: deltaNet.valueSize,
    mamba_ssm_dtype: "float32",
    max_position_embeddings: config.maxPositions,
    pad_token_id: null,
    rms_norm_eps: config.normEpsilon,
    rope_parameters: {
      partial_rotary_factor: config.rotarySize / headSize,
      rope_theta: config.ropeTheta,
      rope_type: "default",
    },
    tie_word_embeddings: config.tied,
    use_cache: true,
  };
  const { torch_dtype: _older, ...kept } = source as Record<string, unknown>;
  return { ...kept, architectures: ["Qwen3_5ForCausalLM"], model_type: "qwen3_5_text", dtype };
}

/** C: channels of the convolution. */
export function convolutionChannels({ keyHeads, valueHeads, keySize, valueSize }: DeltaNetSizes): number {
  return 2 * keyHeads * keySize + valueHeads * valueSize;
}
