import type { ModelConfig } from "../../src/tensor/index.ts";
import type { Qwen3Config } from "../../src/tensor/qwen3-config.ts";

function size(
  hiddenSize: number,
  intermediateSize: number,
  layers: number,
  heads: number,
  tied: boolean,
  small: Partial<Qwen3Config> = {},
): Qwen3Config {
  return {
    architecture: "qwen3",
    vocabularySize: 151_936,
    hiddenSize,
    intermediateSize,
    layers,
    heads,
    keyValueHeads: 8,
    headSize: 128,
    ropeTheta: 1e6,
    normEpsilon: 1e-6,
    tied,
    maxPositions: 40_960,
    ...small,
  };
}

/** The published sizes, and one that a software adapter can compute. */
export const QWEN3_SIZES: Readonly<Record<string, ModelConfig>> = {
  tiny: size(64, 128, 2, 4, true, { vocabularySize: 2000, keyValueHeads: 2, headSize: 32 }),
  /** The sample's student. */
  student: size(128, 352, 2, 4, true, { vocabularySize: 1872, keyValueHeads: 2, headSize: 32 }),
  /** The miniature's teacher. */
  miniature: size(128, 352, 4, 4, true, { vocabularySize: 800, keyValueHeads: 2, headSize: 32 }),
  "0.6b": size(1024, 3072, 28, 16, true),
  "1.7b": size(2048, 6144, 28, 16, true),
  "4b": size(2560, 9728, 36, 32, true),
  "8b": size(4096, 12_288, 36, 32, false),
  "14b": size(5120, 17_408, 40, 40, false),
  "32b": size(5120, 25_600, 64, 64, false),
  "3.5-tiny": {
    ...size(64, 128, 4, 4, true, { vocabularySize: 2000, keyValueHeads: 2, headSize: 32 }),
    architecture: "qwen3_5",
    rotarySize: 16,
    mixers: ["linear_attention", "linear_attention", "linear_attention", "full_attention"],
    deltaNet: { keyHeads: 2, valueHeads: 4, keySize: 32, valueSize: 32, kernel: 4 },
  },
  "3.5-0.8b": {
    architecture: "qwen3_5",
    vocabularySize: 248_320,
    hiddenSize: 1024,
    intermediateSize: 3584,
    layers: 24,
    heads: 8,
    keyValueHeads: 2,
    headSize: 256,
    rotarySize: 64,
    ropeTheta: 1e7,
    normEpsilon: 1e-6,
    tied: true,
    maxPositions: 262_144,
    mixers: Array.from({ length: 24 }, (_, i) => ((i + 1) % 4 === 0 ? "full_attention" : "linear_attention")),
    deltaNet: { keyHeads: 16, valueHeads: 16, keySize: 128, valueSize: 128, kernel: 4 },
  },
};

/** As people call them. */
export function modelName(size: string): string {
  if (size === "student") return "The sample's student";
  if (size === "miniature") return "The miniature's teacher";
  return size.startsWith("3.5") ? `Qwen${size}` : `Qwen3-${size}`;
}

export interface Operations {
  /** Of the linear layers of one token. */
  body: number;
  /** Of the vocabulary head of one row. */
  head: number;
  /** Of attention of one row to one key, in all layers. */
  pair: number;
}

/** Floating-point operations of a forward pass of Qwen3, two for each multiplication with an addition; else null. */
export function operationsOf(config: ModelConfig): Operations | null {
  if (config.architecture !== "qwen3") return null;
  const {
    hiddenSize: d,
    intermediateSize: f,
    layers,
    heads,
    keyValueHeads,
    headSize,
    vocabularySize,
  } = config;
  const projections = d * headSize * (2 * heads + 2 * keyValueHeads) + 3 * d * f;
  return {
    body: 2 * layers * projections,
    head: 2 * d * vocabularySize,
    pair: 4 * layers * heads * headSize,
  };
}
