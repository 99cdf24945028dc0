/** Sizes and constants that every architecture has. */
export interface CommonConfig {
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

export type SavedDtype = "float32" | "bfloat16" | "float16";

/** How a layer mixes tokens: softmax attention over all before, or a Gated DeltaNet. */
export type MixerType = "full_attention" | "linear_attention";
