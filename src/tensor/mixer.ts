import {
  type AttentionActivations,
  type AttentionTensors,
  attentionBackward,
  attentionForward,
  attentionValuesPerToken,
} from "./attention-mixer.ts";
import type { Backend } from "./backend.ts";
import { type ModelConfig, mixerType } from "./config.ts";
import {
  type DeltaNetActivations,
  type DeltaNetTensors,
  deltaNetBackward,
  deltaNetForward,
  deltaNetValuesPerToken,
} from "./delta-net-mixer.ts";
import type { PackRows, Reach, RowAngles } from "./packed-rows.ts";
import type { Qwen3_5Config } from "./qwen3-5-config.ts";
import type { Tensor } from "./tensor.ts";

/** The part of a layer that mixes tokens: its parameters, or their gradients. */
export type MixerTensors =
  | { type: "full_attention"; tensors: AttentionTensors }
  | { type: "linear_attention"; tensors: DeltaNetTensors };

/** What the backward pass of a mixer needs of its forward pass. */
export type MixerActivations =
  | { type: "full_attention"; tensors: AttentionActivations }
  | { type: "linear_attention"; tensors: DeltaNetActivations };

/** f32 values that MixerActivations of a layer hold for one token. */
export function mixerValuesPerToken(config: ModelConfig, layer: number): number {
  return mixerType(config, layer) === "full_attention"
    ? attentionValuesPerToken(config)
    : deltaNetValuesPerToken(linear(config));
}

/** The mixer of a layer over its normed rows x [T,d]. */
export function mixerForward(
  backend: Backend,
  config: ModelConfig,
  { type, tensors }: MixerTensors,
  x: Tensor,
  places: RowAngles,
  reach: Reach,
): { y: Tensor; activations: MixerActivations } {
  if (type === "full_attention") {
    const { y, activations } = attentionForward(backend, config, tensors, x, places, reach);
    return { y, activations: { type, tensors: activations } };
  }
  const { y, activations } = deltaNetForward(backend, linear(config), tensors, x, reach);
  return { y, activations: { type, tensors: activations } };
}

/** dL/dx of a mixer from dL/dy; the gradients of its parameters accumulate in `g`. */
export function mixerBackward(
  backend: Backend,
  config: ModelConfig,
  w: MixerTensors,
  g: MixerTensors,
  a: MixerActivations,
  x: Tensor,
  dy: Tensor,
  rows: PackRows,
): Tensor {
  if (w.type === "full_attention" && g.type === w.type && a.type === w.type)
    return attentionBackward(backend, config, w.tensors, g.tensors, a.tensors, x, dy, rows);
  if (w.type === "linear_attention" && g.type === w.type && a.type === w.type)
    return deltaNetBackward(backend, linear(config), w.tensors, g.tensors, a.tensors, x, dy, rows);
  throw new Error(`mixerBackward: ${w.type} with gradients of ${g.type} and activations of ${a.type}`);
}

/** Only Qwen3.5 has linear layers. */
function linear(config: ModelConfig): Qwen3_5Config {
  if (config.architecture !== "qwen3_5") throw new Error(`${config.architecture} has no linear attention`);
  return config;
}
