import { InputError } from "../core/errors.ts";
import { parseJsonObject } from "./checkpoint.ts";

/** Sizes and constants of a Qwen3 model, checked. */
export interface Qwen3Config {
  /** V: rows of the embedding; may exceed the tokenizer's tokens. */
  vocabularySize: number;
  /** d */
  hiddenSize: number;
  /** f: width of the SwiGLU layer. */
  intermediateSize: number;
  layers: number;
  /** H: query heads. */
  heads: number;
  /** G: key/value heads; divides H. */
  keyValueHeads: number;
  /** D, even. */
  headSize: number;
  /** Base of the rotary angles. */
  ropeTheta: number;
  /** ε of RMSNorm. */
  normEpsilon: number;
  /** The vocabulary head is the embedding. */
  tied: boolean;
  /** Longest sequence, prompt and response together. */
  maxPositions: number;
  /** All keys of the config.json that was read, kept for saving. */
  source?: Readonly<Record<string, unknown>>;
}

export const SUPPORTED_MODEL_TYPES = ["qwen3"] as const;

/**
 * Reads a config.json of Qwen3, in the older form (`rope_theta`, `torch_dtype`) or the newer (`rope_parameters`,
 * `dtype`). Another architecture, a missing key or an option that would change the numbers is an InputError.
 */
export function parseQwen3Config(text: string, file: string): Qwen3Config {
  const json = parseJsonObject(text, file);
  const fail = (key: string, message: string): never => {
    throw new InputError(message, { file, key });
  };
  const shown = (key: string): string => JSON.stringify(json[key]) ?? "missing";
  const whole = (key: string): number => {
    const value = json[key];
    if (!Number.isSafeInteger(value) || (value as number) <= 0)
      fail(key, `expected a positive whole number, got ${shown(key)}`);
    return value as number;
  };
  const positive = (key: string, value: unknown): number => {
    if (typeof value !== "number" || !Number.isFinite(value) || value <= 0)
      fail(key, `expected a positive number, got ${JSON.stringify(value) ?? "nothing"}`);
    return value as number;
  };

  const supported = SUPPORTED_MODEL_TYPES.join(", ");
  if (!SUPPORTED_MODEL_TYPES.some((type) => type === json["model_type"]))
    fail("model_type", `${shown("model_type")} is not a supported architecture (supported: ${supported})`);
  const architectures = json["architectures"];
  if (architectures !== undefined && architectures !== null) {
    if (!Array.isArray(architectures) || !architectures.includes("Qwen3ForCausalLM"))
      fail("architectures", `expected Qwen3ForCausalLM, got ${shown("architectures")}`);
  }
  refuseOptions(json, fail);

  const config: Qwen3Config = {
    vocabularySize: whole("vocab_size"),
    hiddenSize: whole("hidden_size"),
    intermediateSize: whole("intermediate_size"),
    layers: whole("num_hidden_layers"),
    heads: whole("num_attention_heads"),
    keyValueHeads: whole("num_key_value_heads"),
    headSize: whole("head_dim"),
    ropeTheta: readRopeTheta(json, fail, positive),
    normEpsilon: positive("rms_norm_eps", json["rms_norm_eps"]),
    tied: json["tie_word_embeddings"] === true,
    maxPositions: whole("max_position_embeddings"),
    source: json,
  };
  if (typeof json["tie_word_embeddings"] !== "boolean")
    fail("tie_word_embeddings", `expected true or false, got ${shown("tie_word_embeddings")}`);
  if (config.heads % config.keyValueHeads !== 0)
    fail("num_key_value_heads", `${config.keyValueHeads} does not divide the ${config.heads} query heads`);
  if (config.headSize % 2 !== 0) fail("head_dim", `expected an even number, got ${config.headSize}`);
  return config;
}

type Fail = (key: string, message: string) => never;

/** Options that change what the model computes and are not implemented: refused, never ignored. */
function refuseOptions(json: Record<string, unknown>, fail: Fail): void {
  const allowed: Record<string, readonly unknown[]> = {
    attention_bias: [false],
    hidden_act: ["silu"],
    attention_dropout: [0],
    use_sliding_window: [false],
    quantization_config: [null],
  };
  for (const [key, values] of Object.entries(allowed)) {
    const value = json[key];
    if (value !== undefined && !values.includes(value))
      fail(key, `${JSON.stringify(value)} is not supported (expected ${JSON.stringify(values[0])})`);
  }
  const types = json["layer_types"];
  if (types !== undefined && types !== null) {
    if (!Array.isArray(types) || types.length !== json["num_hidden_layers"])
      fail("layer_types", "expected one entry a layer");
    const other = (types as unknown[]).find((type) => type !== "full_attention");
    if (other !== undefined)
      fail("layer_types", `${JSON.stringify(other)} is not supported (expected "full_attention")`);
  }
}

function readRopeTheta(
  json: Record<string, unknown>,
  fail: Fail,
  positive: (key: string, value: unknown) => number,
): number {
  let theta = json["rope_theta"];
  let key = "rope_theta";
  for (const name of ["rope_parameters", "rope_scaling"]) {
    const rope = json[name];
    if (rope === undefined || rope === null) continue;
    if (typeof rope !== "object" || Array.isArray(rope)) fail(name, "expected an object or null");
    const options = rope as Record<string, unknown>;
    const type = options["rope_type"] ?? options["type"];
    if (type !== "default")
      fail(name, `rope type ${JSON.stringify(type) ?? "missing"} is not supported (expected "default")`);
    const partial = options["partial_rotary_factor"];
    if (partial !== undefined && partial !== null && partial !== 1)
      fail(name, `partial_rotary_factor ${JSON.stringify(partial)} is not supported (expected 1)`);
    if (options["rope_theta"] !== undefined) {
      if (theta !== undefined && theta !== options["rope_theta"])
        fail(
          name,
          `rope_theta ${JSON.stringify(options["rope_theta"])} contradicts ${JSON.stringify(theta)}`,
        );
      theta = options["rope_theta"];
      key = `${name}.rope_theta`;
    }
  }
  return positive(key, theta);
}

/**
 * config.json for saving: what was read, with the dtype of the saved weights, or for a new model the older form,
 * which every version of transformers reads.
 */
export function qwen3ConfigJson(config: Qwen3Config, dtype: "float32" | "bfloat16" | "float16"): string {
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
  const key = "dtype" in source ? "dtype" : "torch_dtype";
  return `${JSON.stringify({ ...source, [key]: dtype }, null, 2)}\n`;
}
