import { expect, test } from "vitest";
import { openModelFixture } from "../../test/model-fixtures.ts";
import { InputError } from "../core/errors.ts";
import { readFolderText } from "../core/folder-text.ts";
import { modelConfigJson, parseModelConfig } from "./config.ts";

type Json = Record<string, unknown>;

async function fixture(folder: string): Promise<Json> {
  return JSON.parse(await readFolderText(openModelFixture(folder), "config.json")) as Json;
}

const parse = (json: unknown) => parseModelConfig(JSON.stringify(json), "m/config.json");

/** Without the keys that are undefined. */
const changed = (json: Json, change: Json): Json =>
  JSON.parse(JSON.stringify({ ...json, ...change })) as Json;

test("the flat and the composite form give the same sizes", async () => {
  const { source: _flat, ...flat } = parse(await fixture("qwen3_5"));
  const { source: _text, ...composite } = parse(await fixture("qwen3_5-bf16-wrapper-sharded"));
  expect(flat).toEqual({
    architecture: "qwen3_5",
    vocabularySize: 1880,
    hiddenSize: 48,
    intermediateSize: 96,
    layers: 4,
    heads: 4,
    keyValueHeads: 2,
    headSize: 24,
    rotarySize: 6,
    ropeTheta: 1e7,
    normEpsilon: 1e-6,
    tied: true,
    maxPositions: 4096,
    mixers: ["linear_attention", "linear_attention", "linear_attention", "full_attention"],
    deltaNet: { keyHeads: 2, valueHeads: 4, keySize: 16, valueSize: 24, kernel: 4 },
  });
  expect(composite).toEqual(flat);
});

test("what the file leaves out is as transformers takes it", async () => {
  const json = await fixture("qwen3_5");
  const rope = { rope_theta: 1e7, rope_type: "default" };
  const bare = changed(json, {
    layer_types: undefined,
    full_attention_interval: undefined,
    partial_rotary_factor: undefined,
    rope_parameters: rope,
  });
  expect(parse(bare)).toMatchObject({
    rotarySize: 6,
    mixers: ["linear_attention", "linear_attention", "linear_attention", "full_attention"],
  });
  expect(parse(changed(bare, { full_attention_interval: 2 }))).toMatchObject({
    mixers: ["linear_attention", "full_attention", "linear_attention", "full_attention"],
  });
  const composite = await fixture("qwen3_5-bf16-wrapper-sharded");
  const text = changed(composite["text_config"] as Json, { tie_word_embeddings: undefined });
  const untied = { ...composite, tie_word_embeddings: false, text_config: text };
  expect(parse(untied).tied).toBe(false);
});

test.each([
  [{ attn_output_gate: false }, "attn_output_gate: false is not supported (expected true)"],
  [{ mamba_ssm_dtype: "bfloat16" }, 'mamba_ssm_dtype: "bfloat16" is not supported (expected "float32")'],
  [{ hidden_act: "gelu" }, 'hidden_act: "gelu" is not supported'],
  [{ attention_bias: true }, "attention_bias: true is not supported"],
  [{ architectures: ["Qwen3ForCausalLM"] }, "architectures: expected Qwen3_5ForCausalLM"],
  [
    { layer_types: ["linear_attention", "full_attention", "mamba", "full_attention"] },
    'layer_types: "mamba" is not supported (expected "linear_attention" or "full_attention")',
  ],
  [{ partial_rotary_factor: 0.5 }, "rope_parameters: partial_rotary_factor 0.25 contradicts 0.5"],
  [
    {
      partial_rotary_factor: undefined,
      rope_parameters: { rope_type: "default", rope_theta: 1, partial_rotary_factor: 0.2 },
    },
    "partial_rotary_factor: 0.2 of head_dim 24 is 4.8",
  ],
  [
    {
      partial_rotary_factor: undefined,
      rope_parameters: { rope_type: "default", rope_theta: 1, partial_rotary_factor: 2 },
    },
    "partial_rotary_factor: expected at most 1, got 2",
  ],
  [{ linear_num_value_heads: 3 }, "linear_num_value_heads: 3 is not a multiple of the 2 key heads"],
  [{ linear_conv_kernel_dim: 0 }, "linear_conv_kernel_dim: expected a positive whole number, got 0"],
  [{ linear_key_head_dim: undefined }, "linear_key_head_dim: expected a positive whole number, got missing"],
])("%j is refused, in either form", async (change, message) => {
  const flat = changed(await fixture("qwen3_5"), change);
  expect(() => parse(flat)).toThrow(InputError);
  expect(() => parse(flat)).toThrow(`m/config.json, ${message}`);
  if ("architectures" in change) return;
  const composite = await fixture("qwen3_5-bf16-wrapper-sharded");
  const text = changed(composite["text_config"] as Json, change);
  expect(() => parse({ ...composite, text_config: text })).toThrow(
    `m/config.json, ${expectedPlace(message)}`,
  );
});

function expectedPlace(message: string): string {
  return `text_config.${message}`;
}

test.each([
  [{ text_config: undefined }, "text_config: expected an object, got missing"],
  [{ text_config: { model_type: "qwen3" } }, 'text_config.model_type: expected "qwen3_5_text", got "qwen3"'],
  [{ architectures: ["Qwen3_5Model"] }, "architectures: expected Qwen3_5ForConditionalGeneration"],
  [{ tie_word_embeddings: false }, "tie_word_embeddings: false contradicts text_config, where it is true"],
  [{ quantization_config: { bits: 4 } }, "quantization_config"],
])("a composite with %j is refused", async (change, message) => {
  const json = changed(await fixture("qwen3_5-bf16-wrapper-sharded"), change);
  expect(() => parse(json)).toThrow(InputError);
  expect(() => parse(json)).toThrow(`m/config.json, ${message}`);
});

test("what is saved is the flat form, whatever was read; a new model's file reads back", async () => {
  const flat = await fixture("qwen3_5-bf16");
  expect(JSON.parse(modelConfigJson(parse(flat), "float32"))).toEqual({ ...flat, dtype: "float32" });
  const composite = await fixture("qwen3_5-bf16-wrapper-sharded");
  const saved = JSON.parse(modelConfigJson(parse(composite), "bfloat16")) as Json;
  expect(saved).toEqual({
    ...(composite["text_config"] as Json),
    architectures: ["Qwen3_5ForCausalLM"],
    model_type: "qwen3_5_text",
    dtype: "bfloat16",
  });
  const { source: _source, ...config } = parse(flat);
  const { source: _written, ...again } = parseModelConfig(modelConfigJson(config, "float32"), "new");
  expect(again).toEqual(config);
});
