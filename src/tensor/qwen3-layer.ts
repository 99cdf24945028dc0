import type { Backend, KeyRange, Tensor } from "./backend.ts";
import type { Qwen3Config } from "./config.ts";
import type { LayerParameter } from "./weights.ts";

/** The parameters of one layer, or their gradients. */
export type LayerTensors = Readonly<Record<LayerParameter, Tensor>>;

/** Angles of the rows of a pass. */
export interface Places {
  cos: Tensor;
  sin: Tensor;
  /** u32 [T] */
  positions: Tensor;
}

/** Attention over the rows' own keys and values, or over a cache that they are added to. */
export type Attend = (q: Tensor, k: Tensor, v: Tensor) => { o: Tensor; lse: Tensor };

/** What the backward pass of a layer needs of its forward pass. */
export interface LayerActivations {
  /** Input of the layer [T,d]. */
  x: Tensor;
  normed: Tensor;
  rstd: Tensor;
  /** Before the per-head norms [T,H,D], [T,G,D]. */
  rawQ: Tensor;
  rawK: Tensor;
  rstdQ: Tensor;
  rstdK: Tensor;
  /** After norms and rotation. */
  q: Tensor;
  k: Tensor;
  v: Tensor;
  /** [T, H·D] */
  o: Tensor;
  lse: Tensor;
  /** After attention and its residual [T,d]. */
  mid: Tensor;
  postNormed: Tensor;
  postRstd: Tensor;
  gate: Tensor;
  up: Tensor;
  act: Tensor;
}

/** f32 values that LayerActivations hold for one token. */
export function activationsPerToken(config: Qwen3Config): number {
  const { hiddenSize, heads, keyValueHeads, headSize, intermediateSize } = config;
  return 4 * hiddenSize + 3 * (heads + keyValueHeads) * headSize + 3 * intermediateSize;
}

/** One decoder layer: x + attention(norm(x)), then + SwiGLU(norm(·)). */
export function layerForward(
  backend: Backend,
  config: Qwen3Config,
  w: LayerTensors,
  x: Tensor,
  { cos, sin, positions }: Places,
  attend: Attend,
): { y: Tensor; activations: LayerActivations } {
  const { heads, keyValueHeads: groups, headSize, normEpsilon: eps } = config;
  const tokens = x.shape[0]!;
  const { y: normed, rstd } = backend.rmsNorm(x, w.inputNorm, eps);
  const rawQ = backend.reshape(backend.linear(normed, w.query), [tokens, heads, headSize]);
  const rawK = backend.reshape(backend.linear(normed, w.key), [tokens, groups, headSize]);
  const v = backend.reshape(backend.linear(normed, w.value), [tokens, groups, headSize]);
  const { y: normedQ, rstd: rstdQ } = backend.rmsNorm(rawQ, w.queryNorm, eps);
  const { y: normedK, rstd: rstdK } = backend.rmsNorm(rawK, w.keyNorm, eps);
  const q = backend.rope(normedQ, cos, sin, positions);
  const k = backend.rope(normedK, cos, sin, positions);
  const { o, lse } = attend(q, k, v);
  const mid = backend.add(x, backend.linear(backend.reshape(o, [tokens, heads * headSize]), w.output));
  const { y: postNormed, rstd: postRstd } = backend.rmsNorm(mid, w.postNorm, eps);
  const gate = backend.linear(postNormed, w.gate);
  const up = backend.linear(postNormed, w.up);
  const act = backend.swiglu(gate, up);
  const y = backend.add(mid, backend.linear(act, w.down));
  const activations = {
    ...{ x, normed, rstd, rawQ, rawK, rstdQ, rstdK, q, k, v, o, lse },
    ...{ mid, postNormed, postRstd, gate, up, act },
  };
  return { y, activations };
}

/** dL/dx of a layer from dL/dy; the gradients of its parameters accumulate in `g`. Rows attend to rows of the pass. */
export function layerBackward(
  backend: Backend,
  w: LayerTensors,
  g: LayerTensors,
  a: LayerActivations,
  dy: Tensor,
  { cos, sin, positions }: Places,
  keys: KeyRange<Tensor>,
  queryEnd: Tensor,
): Tensor {
  backend.linearBackwardWeight(g.down, dy, a.act);
  const { dgate, dup } = backend.swigluBackward(a.gate, a.up, backend.linearBackwardInput(dy, w.down));
  backend.linearBackwardWeight(g.gate, dgate, a.postNormed);
  backend.linearBackwardWeight(g.up, dup, a.postNormed);
  const dPostNormed = backend.linearBackwardInput(dgate, w.gate);
  backend.addInPlace(dPostNormed, backend.linearBackwardInput(dup, w.up));
  const dmid = backend.rmsNormBackward(g.postNorm, dPostNormed, a.mid, w.postNorm, a.postRstd);
  backend.addInPlace(dmid, dy);

  backend.linearBackwardWeight(g.output, dmid, a.o);
  const dout = backend.reshape(backend.linearBackwardInput(dmid, w.output), a.q.shape);
  const o = backend.reshape(a.o, a.q.shape);
  const { dq, dk, dv } = backend.attentionBackward(dout, a.q, a.k, a.v, o, a.lse, keys, queryEnd);
  const rawGradient = (d: Tensor, gNorm: Tensor, raw: Tensor, norm: Tensor, rstd: Tensor): Tensor =>
    backend.rmsNormBackward(gNorm, backend.rope(d, cos, sin, positions, true), raw, norm, rstd);
  const dRawQ = rawGradient(dq, g.queryNorm, a.rawQ, w.queryNorm, a.rstdQ);
  const dRawK = rawGradient(dk, g.keyNorm, a.rawK, w.keyNorm, a.rstdK);

  const tokens = a.x.shape[0]!;
  let dNormed: Tensor | null = null;
  for (const [d, weight, gradient] of [
    [dRawQ, w.query, g.query],
    [dRawK, w.key, g.key],
    [dv, w.value, g.value],
  ] as const) {
    const flat = backend.reshape(d, [tokens, weight.shape[0]!]);
    backend.linearBackwardWeight(gradient, flat, a.normed);
    const part = backend.linearBackwardInput(flat, weight);
    if (dNormed === null) dNormed = part;
    else backend.addInPlace(dNormed, part);
  }
  const dx = backend.rmsNormBackward(g.inputNorm, dNormed!, a.x, w.inputNorm, a.rstd);
  backend.addInPlace(dx, dmid);
  return dx;
}
