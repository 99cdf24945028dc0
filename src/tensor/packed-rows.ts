import type { KeyRange, Tensor } from "./tensor.ts";

/** Where the rows of a training pass lie. */
export interface PackRows {
  places: Places;
  keys: KeyRange<Tensor>;
  /** u32 [T]: the row after the last of each row's sequence. */
  queryEnd: Tensor;
  /** u32 [S+1]: the first row of each sequence, then T. */
  sequences: Tensor;
}

/** Angles of the rows of a pass. */
export interface Places {
  cos: Tensor;
  sin: Tensor;
  /** u32 [T] */
  positions: Tensor;
}

/** How rows reach those before them: in the pass itself, or also in a cache that they are added to. */
export interface Reach {
  attend(q: Tensor, k: Tensor, v: Tensor): { o: Tensor; lse: Tensor };
  /** Causal convolution with SiLU, as `Backend.causalConv`. */
  convolve(x: Tensor, w: Tensor): Tensor;
  /** The gated delta rule, as `Backend.deltaRule`. */
  recur(q: Tensor, k: Tensor, v: Tensor, gates: Tensor): { o: Tensor; errors: Tensor };
}
