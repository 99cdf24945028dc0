export { AdamW, type AdamWSettings } from "./adamw.ts";
export type { AdamWStep, Backend, KeyRange, Tensor } from "./backend.ts";
export { parseQwen3Config, type Qwen3Config, SUPPORTED_MODEL_TYPES } from "./config.ts";
export { crossEntropyBackward } from "./cross-entropy.ts";
export type { ModelWork, Sequence } from "./packing.ts";
export { Qwen3Model } from "./qwen3.ts";
export type { Generated, GenerateOptions } from "./qwen3-generate.ts";
export { createReferenceBackend } from "./reference/index.ts";
export {
  type ComputeDevice,
  createWebGpuBackend,
  type DeviceOptions,
  requestDevice,
  TURN_ON_WEBGPU,
  type WebGpuBackend,
  type WebGpuOptions,
} from "./webgpu/index.ts";
