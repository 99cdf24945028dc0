import type { Backend, WholeDecoder, WholeModel } from "../backend.ts";
import type { Context } from "./context.ts";
import source from "./decode-whole.wgsl?raw";
import { type GpuTensor, WINDOW_STEP } from "./memory.ts";

/** Threads of a sequence. */
const THREADS = 256;
/** Bytes of weights that a multiprocessor reads for each token: larger models are faster with all of them together. */
const MOST_BYTES = 2 ** 23;
/** Buffers of the kernel. */
const BUFFERS = "rwrrrrrrwwww";

/** Sequences of small models in one dispatch (see decode-whole.wgsl). */
export function wholeOperations(context: Context): Pick<Backend<GpuTensor>, "wholeDecoder"> {
  return { wholeDecoder: (model) => (fits(context, model) ? wholeDecoder(context, model) : null) };
}

function fits({ software, commands: { limits } }: Context, model: WholeModel<GpuTensor>): boolean {
  const { heads, keyValueHeads, headSize, layers, embedding, head, finalNorm } = model;
  const all = [embedding, finalNorm, ...layers.flatMap((layer) => Object.values<GpuTensor>({ ...layer }))];
  const hidden = embedding.shape[1]!;
  return (
    !software &&
    limits.maxStorageBuffersPerShaderStage >= BUFFERS.length &&
    limits.maxComputeInvocationsPerWorkgroup >= THREADS &&
    head === embedding &&
    all.every(({ dtype }) => dtype === "f32") &&
    all.reduce((sum, { bytes }) => sum + bytes, 0) <= MOST_BYTES &&
    hidden % 4 === 0 &&
    layers[0]!.gate.shape[0]! % 4 === 0 &&
    headSize % 8 === 0 &&
    heads % keyValueHeads === 0 &&
    heads * headSize <= 4 * THREADS &&
    workgroupBytes(model, 1) <= limits.maxComputeWorkgroupStorageSize
  );
}

interface Sizes {
  /** Most values of the input of a product in vec4s, and of its result. */
  h4: number;
  y: number;
}

function sizesOf({ heads, keyValueHeads, headSize, embedding, layers }: WholeModel<GpuTensor>): Sizes {
  const [vocabulary, hidden] = embedding.shape as [number, number];
  const inner = layers[0]!.gate.shape[0]!;
  return {
    h4: Math.max(hidden, inner, heads * headSize) / 4,
    y: Math.max(vocabulary, hidden, 2 * inner, (heads + 2 * keyValueHeads) * headSize),
  };
}

/** Bytes of workgroup memory where sequences have at most `room` keys. */
function workgroupBytes(model: WholeModel<GpuTensor>, room: number): number {
  const { h4, y } = sizesOf(model);
  const { heads, headSize, embedding } = model;
  const values = embedding.shape[1]! + 4 * h4 + y + heads * headSize + heads * room + 4 * THREADS;
  // Arrays begin at whole vec4s; a few words hold the state.
  return 4 * values + 128;
}

function wholeDecoder(context: Context, model: WholeModel<GpuTensor>): WholeDecoder<GpuTensor> {
  const { memory, commands, bindingLimit } = context;
  const { heads, keyValueHeads, headSize, layers, embedding, finalNorm, normEpsilon } = model;
  const [vocabulary, hidden] = embedding.shape as [number, number];
  const inner = layers[0]!.gate.shape[0]!;
  const { h4, y } = sizesOf(model);
  /** The parts in the order of decode-whole.wgsl: vectors, and matrices of weights side by side. */
  const parts: (GpuTensor | GpuTensor[])[] = [
    ...layers.flatMap(({ inputNorm, query, key, value, queryNorm, keyNorm, output, postNorm, ...rest }) => [
      ...[inputNorm, [query, key, value], queryNorm, keyNorm, [output], postNorm],
      ...[[rest.gate, rest.up], [rest.down]],
    ]),
    finalNorm,
    [embedding],
  ];
  const tensors = parts.flat();
  const values = tensors.reduce((sum, { length }) => sum + length, 0);
  let packed: { values: GpuTensor; version: number; cos: GpuTensor; room: number } | null = null;

  function forget(): void {
    if (packed !== null) memory.free(packed.values);
    packed = null;
  }

  /** The weights, and behind them the tables of `room` positions, brought up to date. */
  function pack({ cos, sin }: { cos: GpuTensor; sin: GpuTensor }, room: number): GpuTensor {
    const version = tensors.reduce((sum, tensor) => sum + tensor.version, 0);
    if (packed?.version === version && packed.cos === cos && packed.room === room) return packed.values;
    if (packed?.room !== room) forget();
    const to = packed?.values ?? memory.allocateCopy([values + room * headSize], "f32");
    packed = { values: to, version, cos, room };
    const table = 2 * room * headSize;
    commands.copy(cos, 0, to, 4 * values, table);
    commands.copy(sin, 0, to, 4 * values + table, table);
    let at = 0;
    for (const part of parts) {
      if (!Array.isArray(part)) {
        commands.copy(part, 0, to, 4 * at, part.bytes);
        at += part.length;
        continue;
      }
      const columns = part.reduce((sum, { shape }) => sum + shape[0]!, 0);
      let column = 0;
      for (const weight of part) {
        const [rows, inputs] = weight.shape as [number, number];
        commands.dispatch({
          kernel: { source, entry: "pack_matrix", buffers: "rw", constants: constants(1) },
          buffers: [weight, to],
          groups: Math.ceil(weight.length / 4 / 64),
          uints: [rows, inputs / 4, columns, column, at / 4],
          work: weight.length,
        });
        column += rows;
      }
      at += part.reduce((sum, { length }) => sum + length, 0);
    }
    return to;
  }

  const constants = (room: number) => ({
    THREADS,
    LAYERS: layers.length,
    X4: hidden / 4,
    D4: headSize / 4,
    F4: inner / 4,
    HEADS: heads,
    GROUPS: keyValueHeads,
    SHARING: heads / keyValueHeads,
    VOCABULARY: vocabulary,
    ROOM: room,
    EPSILON: normEpsilon,
    SCALE: 1 / Math.sqrt(headSize),
    H4: h4,
    Y: y,
  });

  return {
    fits(sequences, room) {
      const words = sequences * room * keyValueHeads * headSize;
      return (
        workgroupBytes(model, room) <= commands.limits.maxComputeWorkgroupStorageSize &&
        words % WINDOW_STEP === 0 &&
        2 * layers.length * words * 4 <= bindingLimit
      );
    },
    allocateCache(rows) {
      const all = memory.allocate([2 * layers.length * rows, keyValueHeads, headSize], "f32");
      const window = (n: number) =>
        all.window(n * rows * keyValueHeads * headSize, [rows, keyValueHeads, headSize]);
      return { all, layers: layers.map((_, i) => ({ k: window(2 * i), v: window(2 * i + 1) })) };
    },
    decode(cache, tables, state, tokens) {
      const { temperatures, uniforms, limits, stops, drawable, starts, results, progress } = state;
      const { ids, positions, most } = state;
      const count = ids.shape[0]!;
      commands.dispatch({
        kernel: { source, entry: "decode_whole", buffers: BUFFERS, constants: constants(most) },
        buffers: [
          ...[pack(tables, most), cache, temperatures, uniforms, limits, stops, drawable, starts],
          ...[results, progress, ids, positions],
        ],
        groups: count,
        uints: [
          ...[tokens, uniforms.shape[1]!, stops.shape[0]!, drawable.shape[0]! / 2],
          cache.shape[0]! / (2 * layers.length),
        ],
        work: 2 * count * tokens * (values + 2 * layers.length * most * heads * headSize),
      });
    },
    dispose: forget,
  };
}
