/** Tensors, and how they are stored, for every device. */

export interface Tensor {
  readonly shape: readonly number[];
  readonly dtype: WeightFormat | "u32";
}

/**
 * Which keys each query row may see: rows start[i] … end[i]-1. Packed causal attention: start = first row of the
 * sequence, end = i + 1. With a prefix also the rows prefixStart[i] … prefixEnd[i]-1, which end before start[i] (equal
 * numbers: none): what several continuations packed behind one shared context see of it.
 */
export interface KeyRange<T extends Tensor> {
  /** u32 [Tq] */
  start: T;
  /** u32 [Tq] */
  end: T;
  /** u32 [Tq]; both or neither. */
  prefixStart?: T | undefined;
  /** u32 [Tq] */
  prefixEnd?: T | undefined;
  /**
   * No row sees more keys than this, where it is known and the ranges themselves are on the device alone: few rows that
   * each look back at a long cache, as in decoding. Such ranges have no prefix.
   */
  most?: number | undefined;
  /** Pairs of a row and a key that it sees, where the host knows: how much work there is. */
  pairs?: number | undefined;
}

/** Rows `first` … `end` − 1 of a matrix. */
export interface RowSpan {
  readonly first: number;
  readonly end: number;
}

/** What a product takes in place of its x [M,K]: `rmsNorm(x, weight, epsilon, offset)`. */
export interface NormOf<T extends Tensor = Tensor> {
  /** [K] */
  weight: T;
  epsilon: number;
  offset?: number;
}

/** The norms over each head of queries and of keys: weights [D], and what `rmsNorm` takes beside them. */
export interface HeadNorms<T extends Tensor = Tensor> {
  query: T;
  key: T;
  epsilon: number;
  offset?: number;
}

/**
 * The state of M sequences that are continued together, one token each per step, L tokens at most. All of it is on the
 * device, so that a step needs nothing from the host.
 */
export interface Draws<T extends Tensor> {
  /** f32 [M]; 0 takes the most probable token. */
  temperatures: T;
  /** f32 [M,2]: `topK` and `topP` of `SampleRequest`; 0 and 1 where there is no such bound. */
  bounds: T;
  /** f32 [M,L] in [0, 1): the i-th decides the i-th token of the sequence. */
  uniforms: T;
  /** u32 [M]: tokens after which a sequence ends, at most L. */
  limits: T;
  /** u32 [S], S ≥ 1: ids that end a sequence. */
  stops: T;
  /** u32 [2R]: the only ids that may be drawn, as R ascending ranges from … to − 1. */
  drawable: T;
  /** f32 [M,L,2]: each token's id (exact below 2²⁴) and its log-probability over all V at temperature 1. */
  results: T;
  /** f32 [M,2]: tokens drawn so far, and 1 while the sequence goes on (0: it has ended, and stays as it is). */
  progress: T;
  /** u32 [M]: the token of the next step, its position, its row in the cache, and the row after it. */
  ids: T;
  positions: T;
  rows: T;
  ends: T;
}

/**
 * Keys and values of a layer, [rows, G, D] each in the backend's `cacheFormat`: those of a sequence lie in neighbouring
 * rows.
 */
export interface LayerCache<T extends Tensor = Tensor> {
  k: T;
  v: T;
}

/** What a step works on, all of it on the device. */
export interface DecodeState<T extends Tensor = Tensor> extends Draws<T> {
  /** u32 [M]: the first row of each sequence in the cache. */
  starts: T;
  /** No sequence has more keys than this. */
  most: number;
}

/** Where the tokens of such a step are. The first row of a sequence has position 0: position = row − start, end = row + 1. */
export type StepRows<T extends Tensor = Tensor> = Pick<
  DecodeState<T>,
  "positions" | "rows" | "starts" | "ends" | "most"
>;

/** Storage of weights that are not trained, [N,K]; see weight-format.ts. Values are computed with in f32 (or f16). */
export type FrozenFormat = "f16" | "bf16" | "int8" | "int4";

export type WeightFormat = "f32" | FrozenFormat;
