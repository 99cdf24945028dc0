import { type Backend, LanguageModel, type ModelConfig, type Tensor } from "../../src/tensor/index.ts";
import { weightFormat } from "../../src/tensor/load-weights.ts";
import { bf16FromNumber, f16FromNumber } from "../../src/tensor/number-format.ts";
import { elements } from "../../src/tensor/shapes.ts";
import type { WeightFormat } from "../../src/tensor/tensor.ts";
import { packValues, weightWords } from "../../src/tensor/weight-format.ts";
import { parameterShapes } from "../../src/tensor/weights.ts";

/** Words that are made once and put into every tensor from another place on. */
const POOL = 2 ** 22;
/** Rows of int8 and int4 that are packed once and repeated. */
const PACKED_ROWS = 64;

/** A parameter's values. */
export interface RandomParameter {
  name: string;
  shape: readonly number[];
  format: WeightFormat;
  /** Words of that format, one piece behind the other; null where all values are 1. */
  words: readonly Uint32Array[] | null;
}

/**
 * The parameters of a model of random weights, uniform with a standard deviation of 0.02, norms of 1: the values repeat
 * after a few million, which no speed depends on. `format` is that of the matrices.
 */
export function* randomParameters(config: ModelConfig, format: WeightFormat): Generator<RandomParameter> {
  const grouped = format === "int8" || format === "int4";
  const pool = randomWords(grouped ? "f32" : format);
  let place = 1;
  for (const [name, shape] of parameterShapes(config)) {
    // Norms; and the convolutions and decays of Qwen3.5, which are not matrices of products.
    if (shape.length !== 2 || elements(shape) < 2 ** 12) {
      yield { name, shape, format: "f32", words: null };
      continue;
    }
    const stored = weightFormat(format, name, shape, "F32");
    const count = weightWords(stored, shape);
    place = (place * 7919) % POOL;
    const repeated = grouped ? packedRows(stored, shape[1]!, pool) : pool;
    const words: Uint32Array[] = [];
    for (let at = 0, from = grouped ? 0 : place; at < count; from = 0) {
      const piece = repeated.subarray(from, Math.min(repeated.length, from + count - at));
      words.push(piece);
      at += piece.length;
    }
    yield { name, shape, format: stored, words };
  }
}

function packedRows(format: WeightFormat, width: number, pool: Uint32Array): Uint32Array {
  return packValues(format, width, new Float32Array(pool.buffer, 0, PACKED_ROWS * width));
}

/** A model of `randomParameters` on a device, in seconds. */
export async function randomModel(
  backend: Backend,
  config: ModelConfig,
  format: WeightFormat,
): Promise<LanguageModel> {
  const parameters = new Map<string, Tensor>();
  for (const { name, shape, format: stored, words } of randomParameters(config, format)) {
    if (words === null) {
      parameters.set(name, backend.fromArray(new Float32Array(elements(shape)).fill(1), shape));
      continue;
    }
    const t = backend.allocateWeight(stored, shape);
    let at = 0;
    for (const piece of words) {
      backend.writeWords(t, at, piece);
      at += piece.length;
    }
    parameters.set(name, t);
    await backend.sync();
  }
  return LanguageModel.of(backend, config, parameters, "random weights");
}

function randomWords(format: "f32" | "f16" | "bf16"): Uint32Array {
  let state = 0x9e3779b9;
  const uniform = () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
  const value = () => 0.02 * Math.sqrt(12) * (uniform() - 0.5);
  if (format === "f32") return new Uint32Array(Float32Array.from({ length: POOL }, value).buffer);
  const half = format === "f16" ? f16FromNumber : bf16FromNumber;
  return Uint32Array.from({ length: POOL }, () => half(value()) | (half(value()) << 16));
}
