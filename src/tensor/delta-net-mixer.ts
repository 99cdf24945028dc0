import { backwardProjections } from "./attention-mixer.ts";
import type { Backend } from "./backend.ts";
import type { PackRows, Reach, RuleRows } from "./packed-rows.ts";
import type { DeltaNetSizes, Qwen3_5Config } from "./qwen3-5-config.ts";
import { convolutionChannels } from "./qwen3-5-config.ts";
import type { RowSpan, Tensor } from "./tensor.ts";
import type { DeltaNetParameter } from "./weights.ts";

/** The parameters of a Gated DeltaNet layer, or their gradients. */
export type DeltaNetTensors = Readonly<Record<DeltaNetParameter, Tensor>>;

/** What the backward pass needs of the forward pass; C = 2·G·dk + N·dv channels. */
export interface DeltaNetActivations extends RuleRows {
  /** Before the convolution [T,C]. */
  mixed: Tensor;
  /** After it, before the unit norms [T,G,dk]. */
  rawQ: Tensor;
  rawK: Tensor;
  rstdQ: Tensor;
  rstdK: Tensor;
  /** [T,N] */
  a: Tensor;
  b: Tensor;
  rstdO: Tensor;
  /** o after its norm [T,N,dv]. */
  normedO: Tensor;
  z: Tensor;
  /** [T, N·dv] */
  gated: Tensor;
}

/** Stands inside the root of the unit norms, whatever the model's ε. */
const UNIT_EPSILON = 1e-6;

/** f32 values that DeltaNetActivations hold for one token. */
export function deltaNetValuesPerToken({ deltaNet: sizes }: Qwen3_5Config): number {
  const { keyHeads, valueHeads, keySize, valueSize } = sizes;
  const heads = 2 * keyHeads + 5 * valueHeads;
  return convolutionChannels(sizes) + 4 * keyHeads * keySize + 6 * valueHeads * valueSize + heads;
}

/**
 * The unit norm x / √(Σx² + ε) · scale over heads of `size` numbers, as an RMS norm: the constant weight scale/√size and
 * ε/size.
 */
function unitNorm(backend: Backend, size: number, scale: number): { weight: Tensor; epsilon: number } {
  // Filled on the device: a step of decoding takes nothing from the host.
  const weight = backend.allocateWeight("f32", [size]);
  backend.fill(weight, scale / Math.sqrt(size));
  return { weight, epsilon: UNIT_EPSILON / size };
}

/**
 * The keys' rows of W_qkv. What a state keeps of a value depends on every key after it, so that keys, of unit length
 * after their norm, and gates carry their errors furthest. With f16 operands for all, log-probabilities of the golden
 * sequences are off by up to 2.4e-2; with twice the bits for keys and gates by up to 1.4e-2.
 */
function fineRows({ keyHeads, keySize }: DeltaNetSizes): RowSpan {
  return { first: keyHeads * keySize, end: 2 * keyHeads * keySize };
}

/** The mixer of a linear layer over normed rows x [T,d]; the equations of Gated DeltaNet. */
export function deltaNetForward(
  backend: Backend,
  config: Qwen3_5Config,
  w: DeltaNetTensors,
  x: Tensor,
  reach: Reach,
): { y: Tensor; activations: DeltaNetActivations } {
  const { keyHeads, valueHeads, keySize, valueSize } = config.deltaNet;
  const tokens = x.shape[0]!;
  const mixed = backend.linear(x, w.qkv, fineRows(config.deltaNet));
  const convolved = reach.convolve(mixed, w.conv);
  const widths = [keyHeads * keySize, keyHeads * keySize, valueHeads * valueSize];
  const [rawQ, rawK, v] = backend.splitColumns(convolved, widths) as [Tensor, Tensor, Tensor];
  backend.free(convolved);
  backend.reshape(v, [tokens, valueHeads, valueSize]);
  const unit = (raw: Tensor, scale: number) => {
    const { weight, epsilon } = unitNorm(backend, keySize, scale);
    const result = backend.rmsNorm(backend.reshape(raw, [tokens, keyHeads, keySize]), weight, epsilon);
    backend.free(weight);
    return result;
  };
  const { y: q, rstd: rstdQ } = unit(rawQ, 1 / Math.sqrt(keySize));
  const { y: k, rstd: rstdK } = unit(rawK, 1);
  const gateRows = { first: 0, end: valueHeads };
  const a = backend.linear(x, w.a, gateRows);
  const b = backend.linear(x, w.b, gateRows);
  const gates = backend.deltaGates(a, b, w.decay, w.timeBias);
  const { o, ...found } = reach.recur(q, k, v, gates);
  const { y: normedO, rstd: rstdO } = backend.rmsNorm(o, w.norm, config.normEpsilon);
  const z = backend.reshape(backend.linear(x, w.z), [tokens, valueHeads, valueSize]);
  const gated = backend.reshape(backend.swiglu(z, normedO), [tokens, valueHeads * valueSize]);
  const y = backend.linear(gated, w.output);
  const activations = {
    ...{ mixed, rawQ, rawK, rstdQ, rstdK, q, k, v, a, b, gates },
    ...{ o, ...found, rstdO, normedO, z, gated },
  };
  return { y, activations };
}

/** dL/dx of the mixer from dL/dy; the gradients of its parameters accumulate in `g`. */
export function deltaNetBackward(
  backend: Backend,
  config: Qwen3_5Config,
  w: DeltaNetTensors,
  g: DeltaNetTensors,
  act: DeltaNetActivations,
  x: Tensor,
  dy: Tensor,
  { linear }: PackRows,
): Tensor {
  const { keySize } = config.deltaNet;
  const tokens = x.shape[0]!;
  backend.linearBackwardWeight(g.output, dy, act.gated);
  const dGated = backend.reshape(backend.linearBackwardInput(dy, w.output), act.o.shape);
  const { dgate: dz, dup: dNormedO } = backend.swigluBackward(act.z, act.normedO, dGated);
  const dout = backend.rmsNormBackward(g.norm, dNormedO, act.o, w.norm, act.rstdO);
  const { dq, dk, dv, dgates } = linear.recur(dout, act);
  const { da, db } = backend.deltaGatesBackward(
    ...[g.decay, g.timeBias, dgates, act.a, act.b, w.decay, w.timeBias],
  );
  const fromUnit = (d: Tensor, raw: Tensor, rstd: Tensor, scale: number): Tensor => {
    const { weight } = unitNorm(backend, keySize, scale);
    const draw = backend.rmsNormBackward(null, d, raw, weight, rstd);
    backend.free(weight);
    return backend.reshape(draw, [tokens, draw.shape[1]! * keySize]);
  };
  const dRawQ = fromUnit(dq, act.rawQ, act.rstdQ, 1 / Math.sqrt(keySize));
  const dRawK = fromUnit(dk, act.rawK, act.rstdK, 1);
  const dConvolved = backend.joinColumns([dRawQ, dRawK, backend.reshape(dv, [tokens, w.z.shape[0]!])]);
  const dMixed = linear.convolve(g.conv, dConvolved, act.mixed, w.conv);
  return backwardProjections(backend, x, [
    [dMixed, w.qkv, g.qkv],
    [dz, w.z, g.z],
    [da, w.a, g.a],
    [db, w.b, g.b],
  ]);
}
