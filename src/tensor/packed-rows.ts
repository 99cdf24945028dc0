import type { KeyRange, Tensor } from "./tensor.ts";

/** Where the rows of a training pass lie. */
export interface PackRows {
  places: RowAngles;
  keys: KeyRange<Tensor>;
  /** u32 [T]: the row after the last that sees each row's key, as `Backend.attentionBackward` takes it. */
  queryEnd: Tensor;
  linear: LinearBackward;
}

/** Angles of the rows of a pass. */
export interface RowAngles {
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
  /** The gated delta rule, as `Backend.deltaRule`. `branchStates`: where branches leave, [P, N·dk·dv], if any do. */
  recur(q: Tensor, k: Tensor, v: Tensor, gates: Tensor): { o: Tensor; errors: Tensor; branchStates?: Tensor };
}

/**
 * What the delta rule was given and what it found (`Reach.recur`): q and k [T,G,dk], v, o and errors [T,N,dv], gates
 * [T,N,2].
 */
export interface RuleRows {
  q: Tensor;
  k: Tensor;
  v: Tensor;
  gates: Tensor;
  o: Tensor;
  errors: Tensor;
  branchStates?: Tensor;
}

/** The gradients of what linear layers reach by `Reach`. */
export interface LinearBackward {
  /** As `Backend.causalConvBackward`. */
  convolve(dw: Tensor, dy: Tensor, x: Tensor, w: Tensor): Tensor;
  /** As `Backend.deltaRuleBackward`. */
  recur(dout: Tensor, rows: RuleRows): { dq: Tensor; dk: Tensor; dv: Tensor; dgates: Tensor };
}

/** Stands for what a mixer of another type does. */
export function notHere(): never {
  throw new Error("the cache of a layer was made for another mixer");
}
