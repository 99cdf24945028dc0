import { expect, test } from "vitest";
import { openModelFixture } from "../../test/model-fixtures.ts";
import { InputError } from "../core/errors.ts";
import { readFolderText } from "../core/folder-text.ts";
import { modelConfigJson, parseModelConfig } from "./config.ts";

async function fixture(folder: string): Promise<Record<string, unknown>> {
  return JSON.parse(await readFolderText(openModelFixture(folder), "config.json")) as Record<string, unknown>;
}

function parse(json: unknown) {
  return parseModelConfig(typeof json === "string" ? json : JSON.stringify(json), "m/config.json");
}

test("the older and the newer form", async () => {
  const older = parse(await fixture("qwen3-a"));
  expect(older).toMatchObject({ vocabularySize: 1880, hiddenSize: 64, intermediateSize: 160, layers: 2 });
  expect(older).toMatchObject({ heads: 4, keyValueHeads: 2, headSize: 32, ropeTheta: 1e6, tied: true });
  expect(older).toMatchObject({ normEpsilon: 1e-6, maxPositions: 4096 });
  const newer = parse(await fixture("qwen3-b"));
  expect(newer).toMatchObject({ layers: 3, heads: 6, ropeTheta: 25_000, tied: false, normEpsilon: 1e-5 });
});

test.each([
  [
    { model_type: "qwen3_moe" },
    'model_type: "qwen3_moe" is not a supported architecture (supported: qwen3, qwen3_5, qwen3_5_text)',
  ],
  [
    { model_type: "llama" },
    'model_type: "llama" is not a supported architecture (supported: qwen3, qwen3_5, qwen3_5_text)',
  ],
  [{ model_type: undefined }, "model_type: missing is not a supported architecture"],
  [{ architectures: ["Qwen3ForSequenceClassification"] }, "architectures: expected Qwen3ForCausalLM"],
  [{ rope_scaling: { rope_type: "yarn", factor: 4 } }, 'rope_scaling: rope type "yarn" is not supported'],
  [{ rope_parameters: { rope_type: "linear", rope_theta: 1e6 } }, 'rope_parameters: rope type "linear"'],
  [{ rope_parameters: { rope_type: "default", rope_theta: 5 } }, "rope_parameters: rope_theta 5 contradicts"],
  [
    { rope_parameters: { rope_type: "default", partial_rotary_factor: 0.5 } },
    "rope_parameters: partial_rotary_factor 0.5 is not supported",
  ],
  [{ rope_theta: undefined }, "rope_theta: expected a positive number, got nothing"],
  [{ use_sliding_window: true }, "use_sliding_window: true is not supported (expected false)"],
  [{ layer_types: ["full_attention", "sliding_attention"] }, 'layer_types: "sliding_attention"'],
  [{ layer_types: ["full_attention"] }, "layer_types: expected one entry a layer"],
  [{ attention_bias: true }, "attention_bias: true is not supported (expected false)"],
  [{ attention_dropout: 0.1 }, "attention_dropout: 0.1 is not supported (expected 0)"],
  [{ hidden_act: "gelu" }, 'hidden_act: "gelu" is not supported (expected "silu")'],
  [{ quantization_config: { bits: 4 } }, "quantization_config"],
  [{ hidden_size: "64" }, 'hidden_size: expected a positive whole number, got "64"'],
  [{ head_dim: undefined }, "head_dim: expected a positive whole number, got missing"],
  [{ head_dim: 31 }, "head_dim: expected an even number"],
  [{ num_key_value_heads: 3 }, "num_key_value_heads: 3 does not divide the 4 query heads"],
  [{ rms_norm_eps: 0 }, "rms_norm_eps: expected a positive number, got 0"],
  [{ tie_word_embeddings: undefined }, "tie_word_embeddings: expected true or false"],
])("%j is refused", async (change, message) => {
  const json = { ...(await fixture("qwen3-a")), ...change };
  expect(() => parse(json)).toThrow(InputError);
  expect(() => parse(json)).toThrow(`m/config.json, ${message}`);
});

test("a text that is not a JSON object is refused", () => {
  expect(() => parse("{")).toThrow("m/config.json: not JSON");
  expect(() => parse("[]")).toThrow("m/config.json: expected a JSON object");
});

test("what is saved is what was read, but for the dtype; a new model's file reads back", async () => {
  for (const [folder, key] of [
    ["qwen3-a", "torch_dtype"],
    ["qwen3-b", "dtype"],
  ] as const) {
    const source = await fixture(folder);
    const saved = JSON.parse(modelConfigJson(parse(source), "bfloat16")) as Record<string, unknown>;
    expect(saved).toEqual({ ...source, [key]: "bfloat16" });
    const { source: _source, ...config } = parse(source);
    const { source: _written, ...again } = parse(modelConfigJson(config, "float32"));
    expect(again).toEqual(config);
  }
});
