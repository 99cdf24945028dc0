/** The ports on WebGPU or plain TypeScript, for pages, Web Workers and Node. Node's own device is in `node.ts`. */
export {
  type BackendOptions,
  createBackend,
  DEVICE_CHOICES,
  type DeviceChoice,
  isWebGpu,
} from "./backend.ts";
export { createBrowserBackend } from "./browser.ts";
export { type DeviceSpeed, probeDevice } from "./device-probe.ts";
export {
  type PlannedDevice,
  type PlannedPasses,
  planTraining,
  planWorkload,
  type RunLengths,
  type WorkloadSizes,
} from "./plan.ts";
export { type OpenScorer, ReopeningScorer } from "./reopening-scorer.ts";
export { ModelScorer, type PassOptions } from "./scorer.ts";
export { type GradientReport, ModelTrainer, type OpenTrainerOptions } from "./trainer.ts";
