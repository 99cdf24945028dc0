import type { Backend } from "./backend.ts";
import { hasOutputGate, type ModelConfig, normOffset } from "./config.ts";
import type { PackRows, Reach, RowAngles } from "./packed-rows.ts";
import type { Tensor } from "./tensor.ts";
import type { AttentionParameter } from "./weights.ts";

/** The parameters of a full-attention layer, or their gradients. */
export type AttentionTensors = Readonly<Record<AttentionParameter, Tensor>>;

/** What the backward pass needs of the forward pass. */
export interface AttentionActivations {
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
  /** Where the attention has an output gate: the gate [T,H,D] before its sigmoid, and the gated output [T, H·D]. */
  gate?: Tensor;
  gated?: Tensor;
}

/** f32 values that AttentionActivations hold for one token. */
export function attentionValuesPerToken(config: ModelConfig): number {
  const { heads, keyValueHeads, headSize } = config;
  return (3 * (heads + keyValueHeads) + (hasOutputGate(config) ? 2 * heads : 0)) * headSize;
}

/**
 * W_o · attention(rotary(norm(W_q x)), rotary(norm(W_k x)), W_v x) of the normed rows x [T,d]. With an output gate, W_q
 * has for each head the rows of q and then those of u, and the attention's output is multiplied by sigmoid(u).
 */
export function attentionForward(
  backend: Backend,
  config: ModelConfig,
  w: AttentionTensors,
  x: Tensor,
  { cos, sin, positions }: RowAngles,
  reach: Reach,
): { y: Tensor; activations: AttentionActivations } {
  const { heads, keyValueHeads: groups, headSize, normEpsilon: eps } = config;
  const offset = normOffset(config);
  const tokens = x.shape[0]!;
  const projected = backend.linear(x, w.query);
  let rawQ = projected;
  let gate: Tensor | undefined;
  if (hasOutputGate(config)) {
    backend.reshape(projected, [tokens * heads, 2 * headSize]);
    [rawQ, gate] = backend.splitColumns(projected, [headSize, headSize]) as [Tensor, Tensor];
    backend.free(projected);
    backend.reshape(gate, [tokens, heads, headSize]);
  }
  backend.reshape(rawQ, [tokens, heads, headSize]);
  const rawK = backend.reshape(backend.linear(x, w.key), [tokens, groups, headSize]);
  const v = backend.reshape(backend.linear(x, w.value), [tokens, groups, headSize]);
  const { y: q, rstd: rstdQ } = backend.rmsNormRope(rawQ, w.queryNorm, eps, cos, sin, positions, offset);
  const { y: k, rstd: rstdK } = backend.rmsNormRope(rawK, w.keyNorm, eps, cos, sin, positions, offset);
  const { o, lse } = reach.attend(q, k, v);
  const activations: AttentionActivations = { rawQ, rawK, rstdQ, rstdK, q, k, v, o, lse };
  const flat = (t: Tensor) => backend.reshape(t, [tokens, heads * headSize]);
  let out = o;
  if (gate !== undefined) {
    out = backend.sigmoidGate(o, gate);
    activations.gate = gate;
    activations.gated = flat(out);
  }
  flat(o);
  return { y: backend.linear(flat(out), w.output), activations };
}

/** dL/dx of the mixer from dL/dy; the gradients of its parameters accumulate in `g`. Rows attend to rows of the pass. */
export function attentionBackward(
  backend: Backend,
  config: ModelConfig,
  w: AttentionTensors,
  g: AttentionTensors,
  a: AttentionActivations,
  x: Tensor,
  dy: Tensor,
  { places: { cos, sin, positions }, keys, queryEnd }: PackRows,
): Tensor {
  const offset = normOffset(config);
  backend.linearBackwardWeight(g.output, dy, a.gated ?? a.o);
  let dout = backend.reshape(backend.linearBackwardInput(dy, w.output), a.q.shape);
  const o = backend.reshape(a.o, a.q.shape);
  let dgate: Tensor | undefined;
  if (a.gate !== undefined) ({ dx: dout, dgate } = backend.sigmoidGateBackward(o, a.gate, dout));
  const { dq, dk, dv } = backend.attentionBackward(dout, a.q, a.k, a.v, o, a.lse, keys, queryEnd);
  const rawGradient = (d: Tensor, gNorm: Tensor, raw: Tensor, norm: Tensor, rstd: Tensor): Tensor =>
    backend.rmsNormBackward(gNorm, backend.rope(d, cos, sin, positions, true), raw, norm, rstd, null, offset);
  let dRawQ = rawGradient(dq, g.queryNorm, a.rawQ, w.queryNorm, a.rstdQ);
  const dRawK = rawGradient(dk, g.keyNorm, a.rawK, w.keyNorm, a.rstdK);
  if (dgate !== undefined) {
    const [tokens, heads, size] = a.q.shape as [number, number, number];
    dRawQ = backend.joinColumns([dRawQ, dgate].map((t) => backend.reshape(t, [tokens * heads, size])));
  }
  return backwardProjections(backend, x, [
    [dRawQ, w.query, g.query],
    [dRawK, w.key, g.key],
    [dv, w.value, g.value],
  ]);
}

/** Through several linear layers of one input: their weights' gradients accumulate, the input's are added up. */
export function backwardProjections(
  backend: Backend,
  x: Tensor,
  projections: readonly (readonly [dy: Tensor, w: Tensor, g: Tensor])[],
): Tensor {
  const tokens = x.shape[0]!;
  let dx: Tensor | null = null;
  for (const [dy, weight, gradient] of projections) {
    const flat = backend.reshape(dy, [tokens, weight.shape[0]!]);
    backend.linearBackwardWeight(gradient, flat, x);
    const part = backend.linearBackwardInput(flat, weight);
    if (dx === null) dx = part;
    else backend.addInPlace(dx, part);
  }
  return dx!;
}
