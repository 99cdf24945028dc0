import type { Backend } from "./backend.ts";
import { type ModelConfig, normOffset } from "./config.ts";
import {
  type MixerActivations,
  type MixerTensors,
  mixerBackward,
  mixerForward,
  mixerValuesPerToken,
} from "./mixer.ts";
import type { PackRows, Reach, RowAngles } from "./packed-rows.ts";
import type { Tensor } from "./tensor.ts";
import type { BlockParameter } from "./weights.ts";

/** The parameters of one layer, or their gradients. */
export type LayerTensors = Readonly<Record<BlockParameter, Tensor> & { mixer: MixerTensors }>;

/** What the backward pass of a layer needs of its forward pass. */
export interface KeptActivations {
  /** Input of the layer [T,d]. */
  x: Tensor;
  rstd: Tensor;
  mixer: MixerActivations;
  /** After the mixer and its residual [T,d]. */
  mid: Tensor;
  postRstd: Tensor;
  gate: Tensor;
  up: Tensor;
}

/** What is cheaper to compute again than to keep: one pass over values, no product. */
interface Derived {
  normed: Tensor;
  postNormed: Tensor;
  act: Tensor;
}

export type LayerActivations = KeptActivations & Derived;

/** All but what is derived. */
export function keptActivations(a: LayerActivations): KeptActivations {
  const { x, rstd, mixer, mid, postRstd, gate, up } = a;
  return { x, rstd, mixer, mid, postRstd, gate, up };
}

/** All tensors but the layer's input, which belongs to the layer before. */
export function activationTensors({ x: _input, mixer, ...own }: KeptActivations): Tensor[] {
  return [...Object.values<Tensor>(own), ...Object.values<Tensor>({ ...mixer.tensors })];
}

/** f32 values of one token of one layer that are not kept. */
export function derivedPerToken({ hiddenSize, intermediateSize }: ModelConfig): number {
  return 2 * hiddenSize + intermediateSize;
}

/** f32 values that the KeptActivations of all layers hold for one token. */
export function activationsPerToken(config: ModelConfig): number {
  let values = config.layers * (2 * config.hiddenSize + 2 * config.intermediateSize);
  for (let layer = 0; layer < config.layers; layer++) values += mixerValuesPerToken(config, layer);
  return values;
}

/**
 * Tokens of the longest training pass that keeps its activations, unless it is told: 2 GiB of them, and 32 GiB on a device
 * whose packs are those of a datacenter. A longer one keeps the inputs of its layers only.
 */
export function keptTokens(config: ModelConfig, { packTokens }: { readonly packTokens: number }): number {
  const most = (packTokens > 4096 ? 32 : 2) * 2 ** 30;
  return Math.floor(most / (4 * activationsPerToken(config)));
}

/** One decoder layer: x + mixer(norm(x)), then + SwiGLU(norm(·)). */
export function layerForward(
  backend: Backend,
  config: ModelConfig,
  w: LayerTensors,
  x: Tensor,
  places: RowAngles,
  reach: Reach,
): { y: Tensor; activations: LayerActivations } {
  const { normEpsilon: eps } = config;
  const offset = normOffset(config);
  const { y: normed, rstd } = backend.rmsNorm(x, w.inputNorm, eps, offset);
  const { y: mixed, activations: mixer } = mixerForward(backend, config, w.mixer, normed, places, reach);
  const { sum: mid, y: postNormed, rstd: postRstd } = backend.addRmsNorm(x, mixed, w.postNorm, eps, offset);
  const gate = backend.linear(postNormed, w.gate);
  const up = backend.linear(postNormed, w.up);
  const act = backend.swiglu(gate, up);
  const y = backend.add(mid, backend.linear(act, w.down));
  return { y, activations: { x, normed, rstd, mixer, mid, postNormed, postRstd, gate, up, act } };
}

/** dL/dx of a layer from dL/dy; the gradients of its parameters accumulate in `g`. */
export function layerBackward(
  backend: Backend,
  config: ModelConfig,
  w: LayerTensors,
  g: LayerTensors,
  a: KeptActivations & Partial<Derived>,
  dy: Tensor,
  rows: PackRows,
): Tensor {
  const { normEpsilon: eps } = config;
  const offset = normOffset(config);
  const act = a.act ?? backend.swiglu(a.gate, a.up);
  const postNormed = a.postNormed ?? backend.rmsNorm(a.mid, w.postNorm, eps, offset).y;
  const normed = a.normed ?? backend.rmsNorm(a.x, w.inputNorm, eps, offset).y;
  backend.linearBackwardWeight(g.down, dy, act);
  const { dgate, dup } = backend.swigluBackward(a.gate, a.up, backend.linearBackwardInput(dy, w.down));
  backend.linearBackwardWeight(g.gate, dgate, postNormed);
  backend.linearBackwardWeight(g.up, dup, postNormed);
  const dPostNormed = backend.linearBackwardInput(dgate, w.gate);
  backend.addInPlace(dPostNormed, backend.linearBackwardInput(dup, w.up));
  const dmid = backend.rmsNormBackward(g.postNorm, dPostNormed, a.mid, w.postNorm, a.postRstd, dy, offset);
  const dNormed = mixerBackward(backend, config, w.mixer, g.mixer, a.mixer, normed, dmid, rows);
  return backend.rmsNormBackward(g.inputNorm, dNormed, a.x, w.inputNorm, a.rstd, dmid, offset);
}
