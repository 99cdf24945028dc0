export { AdamW, type AdamWSettings, optimizerSteps } from "./adamw.ts";
export type { AdamWStep, Backend } from "./backend.ts";
export { Checkpoint } from "./checkpoint.ts";
export {
  type ModelConfig,
  parseModelConfig,
  SUPPORTED_MODEL_TYPES,
} from "./config.ts";
export { crossEntropyBackward } from "./cross-entropy.ts";
export { type TeacherTarget, tileRows } from "./distribution-tiles.ts";
export type { Generated, GenerateOptions } from "./generate.ts";
export { LanguageModel, type SequenceScores, type WantedDistribution } from "./language-model.ts";
export { keptTokens } from "./layer.ts";
export { WEIGHT_CHOICES, type WeightChoice } from "./load-weights.ts";
export {
  checkPlan,
  combinePlans,
  describePlan,
  fittingPack,
  gibibytes,
  type MemoryPlan,
  type PlannedWorkload,
  type PlanPart,
  partBytes,
  planMemory,
} from "./memory-plan.ts";
export { readModelHeader } from "./model-header.ts";
export { type ModelWork, passTokens, type Sequence } from "./packing.ts";
export type { PieceFormat } from "./pieces.ts";
export { prefixBytesPerToken } from "./prefix-store.ts";
export { createReferenceBackend } from "./reference/index.ts";
export type { KeyRange, Tensor } from "./tensor.ts";
export {
  type ComputeDevice,
  type ComputeFeatures,
  createWebGpuBackend,
  type DeviceOptions,
  type KernelTime,
  requestDevice,
  TURN_ON_WEBGPU,
  type TuningOptions,
  type TuningStore,
  type WebGpuBackend,
  type WebGpuOptions,
} from "./webgpu/index.ts";
