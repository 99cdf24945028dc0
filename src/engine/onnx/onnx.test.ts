import { describe, expect, it } from "vitest";
import { InputError } from "../../core/errors.ts";
import type { FolderReader } from "../../core/ports.ts";
import { findOnnxExport, hasOnnxExport } from "./export.ts";
import { readDecoderGraph } from "./graph.ts";
import { entropyOf, fromHalf, largestPlaces, logSumExp } from "./log-softmax.ts";
import { ResponseRows } from "./response-rows.ts";

function folder(files: Record<string, string>): FolderReader {
  const bytes = (file: string) => new TextEncoder().encode(files[file]);
  return {
    name: "folder",
    list: async () => Object.keys(files),
    size: async (file) => bytes(file).length,
    read: async (file, start, end) => bytes(file).slice(start, end),
  };
}

describe("findOnnxExport", () => {
  it("finds the graph, its data and the sizes, in either layout", async () => {
    const community = folder({
      "config.json": '{"head_dim": 128, "max_position_embeddings": 40960}',
      "onnx/model.onnx": "",
      "onnx/model.onnx_data": "",
      "onnx/model.onnx_data_1": "",
      "onnx/model_q4.onnx": "",
    });
    expect(await findOnnxExport(community)).toEqual({
      model: "onnx/model.onnx",
      data: ["onnx/model.onnx_data", "onnx/model.onnx_data_1"],
      headSize: 128,
      maxPositions: 40960,
    });
    expect(await findOnnxExport(community, "onnx/model_q4.onnx")).toMatchObject({
      model: "onnx/model_q4.onnx",
      data: [],
    });
    const builder = folder({
      "genai_config.json":
        '{"model": {"context_length": 4096, "decoder": {"hidden_size": 64, "num_attention_heads": 4}}}',
      "graph.onnx": "",
      "graph.onnx.data": "",
    });
    expect(await findOnnxExport(builder)).toEqual({
      model: "graph.onnx",
      data: ["graph.onnx.data"],
      headSize: 16,
      maxPositions: 4096,
    });
  });

  it("says what is there when it cannot choose", async () => {
    await expect(findOnnxExport(folder({ "a.onnx": "", "b.onnx": "" }))).rejects.toThrow(
      /found a.onnx, b.onnx/,
    );
    await expect(findOnnxExport(folder({ "config.json": "{}" }))).rejects.toThrow(/none is there/);
    await expect(findOnnxExport(folder({ "a.onnx": "" }), "c.onnx")).rejects.toThrow(InputError);
    await expect(findOnnxExport(folder({ "a.onnx": "", "config.json": "{" }))).rejects.toThrow(
      /folder\/config.json: not JSON/,
    );
    expect(hasOnnxExport(["config.json", "onnx/model.onnx"])).toBe(true);
    expect(hasOnnxExport(["model.onnx.data"])).toBe(false);
  });
});

describe("readDecoderGraph", () => {
  const tensor = (name: string, type: "float32" | "float16" | "int64", shape: (number | string)[]) => ({
    name,
    isTensor: true as const,
    type,
    shape,
  });
  const inputs = [
    tensor("input_ids", "int64", ["batch", "length"]),
    tensor("attention_mask", "int64", ["batch", "total"]),
    tensor("past_key_values.0.key", "float16", ["batch", 8, "past", "size"]),
    tensor("past_key_values.0.value", "float16", ["batch", 8, "past", "size"]),
  ];
  const outputs = [
    tensor("logits", "float32", ["batch", "length", 1880]),
    tensor("present.0.key", "float16", ["batch", 8, "total", "size"]),
    tensor("present.0.value", "float16", ["batch", 8, "total", "size"]),
  ];

  it("reads cache, heads and vocabulary", () => {
    expect(readDecoderGraph({ inputMetadata: inputs, outputMetadata: outputs }, 128, "m.onnx")).toEqual({
      cache: [
        { past: "past_key_values.0.key", present: "present.0.key" },
        { past: "past_key_values.0.value", present: "present.0.value" },
      ],
      cacheType: "float16",
      keyValueHeads: 8,
      headSize: 128,
      vocabulary: 1880,
      takesPositions: false,
    });
  });

  it.each([
    ["no cache", inputs.slice(0, 2), outputs, 128, /no past_key_values inputs/],
    ["no present", inputs, outputs.slice(0, 2), 128, /gives no present.0.value/],
    ["no logits", inputs, outputs.slice(1), 128, /no output logits/],
    ["unknown input", [...inputs, tensor("pixels", "float32", [])], outputs, 128, /unknown input/],
    ["no head size", inputs, outputs, null, /head_dim/],
  ])("refuses %s", (_, inputMetadata, outputMetadata, size, message) => {
    expect(() => readDecoderGraph({ inputMetadata, outputMetadata }, size, "m.onnx")).toThrow(message);
  });
});

describe("log-softmax of ONNX logits", () => {
  it("is exact for large logits", () => {
    expect(1000 - logSumExp(Float32Array.of(1000, 1000))).toBeCloseTo(-Math.LN2, 12);
  });

  it("gives the entropy, a token of probability 0 or not", () => {
    const certain = [0.5, 0.25, 0.25, 0].map(Math.log);
    expect(entropyOf(Float32Array.from(certain))).toBeCloseTo(1.5 * Math.LN2, 6);
  });

  it("finds the largest, the earlier of equals first", () => {
    const values = Array.from({ length: 500 }, (_, i) => (i * 7919) % 83);
    const sorted = [...values.keys()].sort((a, b) => values[b]! - values[a]! || a - b);
    expect(largestPlaces(Float32Array.from(values), 64)).toEqual(sorted.slice(0, 64));
    expect(largestPlaces(Float32Array.of(1, 2), 5)).toEqual([1, 0]);
  });

  it("tells of each response token what is wanted, and nothing else", () => {
    const plain = new ResponseRows([1], {}, "m");
    plain.add(0, Float32Array.of(0, 0));
    expect(Object.keys(plain.scores)).toEqual(["logprobs"]);

    const rows = new ResponseRows([0, 2], { topK: 2, entropy: true, hidden: true }, "m");
    rows.add(0, Float32Array.of(0, 1, 2));
    rows.add(1, Float32Array.of(5, 5, 5));
    const { logprobs, topIds, topLogprobs, entropy, hidden } = rows.scores;
    expect([...topIds!]).toEqual([2, 1, 0, 1]);
    expect(hidden).toHaveLength(6);
    expect(logprobs[0]).toBe(hidden![0]);
    expect(topLogprobs![0]).toBe(hidden![2]);
    expect(logprobs[1]).toBeCloseTo(-Math.log(3), 6);
    expect(entropy![1]).toBeCloseTo(Math.log(3), 6);
    expect(() => rows.add(1, Float32Array.of(0, 0, Number.NaN))).toThrow(
      /log-probability of response token 2 is NaN/,
    );
  });

  it("reads f16", () => {
    const bits = Uint16Array.of(0x3c00, 0xc000, 0x7bff, 0x0001, 0x8000, 0x7c00, 0x3555);
    const [one, minusTwo, largest, least, zero, infinite, third] = fromHalf(bits);
    expect([one, minusTwo, largest, least, zero, infinite]).toEqual([
      1,
      -2,
      65504,
      2 ** -24,
      -0,
      Number.POSITIVE_INFINITY,
    ]);
    expect(third).toBeCloseTo(1 / 3, 3);
  });
});
