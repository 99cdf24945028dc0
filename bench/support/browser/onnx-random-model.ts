/**
 * The random model of a size as an ONNX export, with the nodes that ONNX Runtime's own model builder makes of Qwen3
 * (`-e webgpu --extra_options fuse_qk_norm_gqa=false`), for a runtime that takes no other weights.
 */
import type { FolderReader } from "../../../src/core/ports.ts";
import type { ModelConfig } from "../../../src/tensor/index.ts";
import { f16FromNumber } from "../../../src/tensor/number-format.ts";
import { randomParameters } from "../random-model.ts";
import { bytes, float, integer, joined, type Message } from "./protobuf.ts";

type Format = "f32" | "f16";
type Values = Float32Array | Uint16Array;

const TYPES = { f32: 1, int32: 6, int64: 7, f16: 10 } as const;
const GRAPH = "model.onnx";
const MICROSOFT = "com.microsoft";

/** A file of weights; the runtime takes none of 2 GiB. */
interface DataFile {
  name: string;
  parts: Uint8Array[];
  length: number;
}

/** @param positions longest sequence */
export function randomOnnxFolder(config: ModelConfig, format: Format, positions: number): FolderReader {
  const { nodes, tensors, inputs, outputs } = decoder(config, format, positions);
  const initializers: Message[] = [];
  const files: DataFile[] = [];
  for (const { name, shape, type, values } of tensors) {
    const place = (field: string, value: string) => bytes(13, joined([bytes(1, field), bytes(2, value)]));
    const raw = new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
    const described = [...shape.map((size) => integer(1, size)), integer(2, TYPES[type]), bytes(8, name)];
    if (type === "int64") {
      initializers.push(bytes(5, joined([...described, bytes(9, raw)])));
      continue;
    }
    let file = files.at(-1);
    if (file === undefined || file.length + raw.length > 2 ** 30) {
      file = { name: `${GRAPH}.data.${files.length}`, parts: [], length: 0 };
      files.push(file);
    }
    const where = [place("location", file.name), place("offset", String(file.length))];
    initializers.push(
      bytes(5, joined([...described, ...where, place("length", String(raw.length)), integer(14, 1)])),
    );
    file.parts.push(raw);
    file.length += raw.length;
  }
  const graph = joined([...nodes, bytes(2, "random"), ...initializers, ...inputs, ...outputs]);
  const opset = (domain: string, version: number) =>
    bytes(8, joined([bytes(1, domain), integer(2, version)]));
  const model = joined([integer(1, 10), bytes(7, graph), opset("", 22), opset(MICROSOFT, 1)]);
  const settings = { head_dim: config.headSize, max_position_embeddings: positions };
  const small = new Map([
    [GRAPH, model],
    ["config.json", new TextEncoder().encode(JSON.stringify(settings))],
  ]);
  const data = new Map(files.map((file) => [file.name, file]));
  return {
    name: "random weights",
    list: async () => [...small.keys(), ...data.keys()],
    size: async (name) => small.get(name)?.length ?? data.get(name)!.length,
    read: async (name, start, end) => (small.get(name) ?? joined(data.get(name)!.parts)).subarray(start, end),
  };
}

interface Stored {
  name: string;
  shape: readonly number[];
  type: Format | "int64";
  values: Values | BigInt64Array;
}

function decoder(config: ModelConfig, format: Format, positions: number) {
  const { hiddenSize: d, headSize, heads, keyValueHeads, layers, vocabularySize, normEpsilon } = config;
  const [queries, keys] = [heads * headSize, keyValueHeads * headSize];
  const nodes: Message[] = [];
  const tensors: Stored[] = [];
  const parameters = new Map([...randomParameters(config, format)].map((one) => [one.name, one]));

  /** A parameter as [out, in]. */
  const values = (name: string): Values => {
    const { shape, words } = parameters.get(name)!;
    if (words === null) return ones(shape, format);
    const { buffer } = joined(words.map((w) => new Uint8Array(w.buffer, w.byteOffset, w.byteLength)));
    return format === "f16" ? new Uint16Array(buffer) : new Float32Array(buffer);
  };
  const store = (
    name: string,
    shape: readonly number[],
    stored: Stored["values"],
    type: Stored["type"] = format,
  ) => {
    tensors.push({ name, shape, type, values: stored });
    return name;
  };
  const whole = (name: string, given: readonly number[]) =>
    store(name, [given.length], BigInt64Array.from(given, BigInt), "int64");
  const node = (type: string, from: string[], to: string[], attributes: Message[] = [], domain = "") => {
    const ends = [...from.map((name) => bytes(1, name)), ...to.map((name) => bytes(2, name))];
    nodes.push(bytes(1, joined([...ends, bytes(4, type), ...attributes, bytes(7, domain)])));
    return to[0]!;
  };
  /** x · Wᵀ of parameters that lie side by side. */
  const linear = (x: string, to: string, ...names: string[]) => {
    const outs = names.map((name) => parameters.get(name)!.shape[0]!);
    const width = outs.reduce((sum, out) => sum + out, 0);
    const inputs = parameters.get(names[0]!)!.shape[1]!;
    const w = transposed(names.map(values), outs, inputs, format);
    return node("MatMul", [x, store(`${to}.weight`, [inputs, width], w)], [to]);
  };
  const vector = (name: string) => store(name, parameters.get(name)!.shape, values(name));
  const epsilon = floatAttribute("epsilon", normEpsilon);
  const norm = (x: string, name: string, to: string) =>
    node(
      "SimplifiedLayerNormalization",
      [x, vector(name)],
      [to],
      [epsilon, integerAttribute("axis", -1), integerAttribute("stash_type", 1)],
    );
  /** The residual stream with `x` added, and the norm of it. */
  const addAndNorm = (stream: string, x: string, name: string, to: string): [string, string] => {
    const sum = `${to}.sum`;
    node(
      "SkipSimplifiedLayerNormalization",
      [stream, x, vector(name)],
      [to, "", "", sum],
      [epsilon],
      MICROSOFT,
    );
    return [sum, to];
  };

  const seen = node(
    "ReduceSum",
    ["attention_mask", whole("axis", [1])],
    ["seen"],
    [integerAttribute("keepdims", 0)],
  );
  const last = node(
    "Cast",
    [node("Sub", [seen, "axis"], ["last"])],
    ["last32"],
    [integerAttribute("to", TYPES.int32)],
  );
  const shape = node("Shape", ["attention_mask"], ["mask_shape"]);
  tensors.push({ name: "one", shape: [], type: "int64", values: BigInt64Array.of(1n) });
  const length = node("Gather", [shape, "one"], ["length"], [integerAttribute("axis", 0)]);
  const total = node("Cast", [length], ["total"], [integerAttribute("to", TYPES.int32)]);
  for (const [name, turn] of [
    ["cos_cache", Math.cos],
    ["sin_cache", Math.sin],
  ] as const)
    store(name, [positions, headSize / 2], angles(config, positions, turn, format));
  whole("qkv_sizes", [queries, keys, keys]);
  whole("by_head", [0, -1, headSize]);
  whole("all_queries", [0, -1, queries]);
  whole("all_keys", [0, -1, keys]);

  const embedding = store("embedding", [vocabularySize, d], values("model.embed_tokens.weight"));
  let stream = node("Gather", [embedding, "input_ids"], ["embedded"]);
  let x = norm(stream, "model.layers.0.input_layernorm.weight", "normed");
  const cache: string[] = [];
  for (let layer = 0; layer < layers; layer++) {
    const of = (name: string) => `model.layers.${layer}.${name}`;
    const projections = ["q", "k", "v"].map((name) => of(`self_attn.${name}_proj.weight`));
    const qkv = linear(x, of("qkv"), ...projections);
    const [q, k, v] = ["q", "k", "v"].map(of) as [string, string, string];
    node("Split", [qkv, "qkv_sizes"], [q, k, v], [integerAttribute("axis", -1)]);
    const perHead = (part: string, name: string, size: string) => {
      const rows = node("Reshape", [part, "by_head"], [`${part}.heads`]);
      return node(
        "Reshape",
        [norm(rows, of(`self_attn.${name}.weight`), `${part}.normed`), size],
        [`${part}.ready`],
      );
    };
    const [qReady, kReady] = [perHead(q, "q_norm", "all_queries"), perHead(k, "k_norm", "all_keys")];
    const kept = ["key", "value"].map((name) => `${layer}.${name}`);
    cache.push(...kept);
    const past = kept.map((name) => `past_key_values.${name}`);
    const attended = node(
      "GroupQueryAttention",
      [qReady, kReady, v, ...past, last, total, "cos_cache", "sin_cache"],
      [of("attended"), ...kept.map((name) => `present.${name}`)],
      [
        integerAttribute("num_heads", heads),
        integerAttribute("kv_num_heads", keyValueHeads),
        floatAttribute("scale", headSize ** -0.5),
        integerAttribute("do_rotary", 1),
      ],
      MICROSOFT,
    );
    const mixed = linear(attended, of("mixed"), of("self_attn.o_proj.weight"));
    const [afterMixer, y] = addAndNorm(stream, mixed, of("post_attention_layernorm.weight"), of("between"));
    const gate = linear(y, of("gate"), of("mlp.gate_proj.weight"));
    const up = linear(y, of("up"), of("mlp.up_proj.weight"));
    const swish = node("Mul", [gate, node("Sigmoid", [gate], [of("sigmoid")])], [of("swish")]);
    const down = linear(node("Mul", [swish, up], [of("inner")]), of("down"), of("mlp.down_proj.weight"));
    const next =
      layer + 1 < layers ? `model.layers.${layer + 1}.input_layernorm.weight` : "model.norm.weight";
    [stream, x] = addAndNorm(afterMixer, down, next, of("out"));
  }
  linear(x, "logits", config.tied ? "model.embed_tokens.weight" : "lm_head.weight");

  const ids = ["batch", "tokens"];
  const keyShape = (when: string) => ["batch", keyValueHeads, when, headSize];
  return {
    nodes,
    tensors,
    inputs: [
      described(11, "input_ids", "int64", ids),
      described(11, "attention_mask", "int64", ["batch", "all"]),
      ...cache.map((name) => described(11, `past_key_values.${name}`, format, keyShape("past"))),
    ],
    outputs: [
      described(12, "logits", format, [...ids, vocabularySize]),
      ...cache.map((name) => described(12, `present.${name}`, format, keyShape("all"))),
    ],
  };
}

const integerAttribute = (name: string, value: number): Message =>
  bytes(5, joined([bytes(1, name), integer(3, value), integer(20, 2)]));
const floatAttribute = (name: string, value: number): Message =>
  bytes(5, joined([bytes(1, name), float(2, value), integer(20, 1)]));

/** An input or output of the graph; sizes that are names stay open. */
function described(
  field: number,
  name: string,
  type: keyof typeof TYPES,
  shape: readonly (string | number)[],
) {
  const sizes = shape.map((size) => bytes(1, typeof size === "number" ? integer(1, size) : bytes(2, size)));
  const tensor = joined([integer(1, TYPES[type]), bytes(2, joined(sizes))]);
  return bytes(field, joined([bytes(1, name), bytes(2, bytes(1, tensor))]));
}

const array = (count: number, format: Format): Values =>
  format === "f16" ? new Uint16Array(count) : new Float32Array(count);

function ones(shape: readonly number[], format: Format): Values {
  const count = shape.reduce((product, size) => product * size, 1);
  return array(count, format).fill(format === "f16" ? f16FromNumber(1) : 1);
}

/** [inputs, all outs] of matrices [out, inputs]. */
function transposed(
  matrices: readonly Values[],
  outs: readonly number[],
  inputs: number,
  format: Format,
): Values {
  const width = outs.reduce((sum, out) => sum + out, 0);
  const result = array(width * inputs, format);
  let column = 0;
  for (const [n, matrix] of matrices.entries()) {
    for (let row = 0; row < outs[n]!; row++, column++)
      for (let i = 0; i < inputs; i++) result[i * width + column] = matrix[row * inputs + i]!;
  }
  return result;
}

function angles(
  { headSize, ropeTheta }: ModelConfig,
  positions: number,
  turn: (x: number) => number,
  format: Format,
) {
  const half = headSize / 2;
  const result = array(positions * half, format);
  for (let position = 0; position < positions; position++)
    for (let i = 0; i < half; i++) {
      const value = turn(position * ropeTheta ** (-i / half));
      result[position * half + i] = format === "f16" ? f16FromNumber(value) : value;
    }
  return result;
}
