/** The ports on WebGPU or plain TypeScript, for pages, Web Workers and Node. Node's own device is in `node.ts`. */
export { type BackendOptions, createBackend, DEVICE_CHOICES, type DeviceChoice } from "./backend.ts";
export { createBrowserBackend } from "./browser.ts";
export { ModelScorer } from "./scorer.ts";
export { ModelTrainer, type OpenTrainerOptions } from "./trainer.ts";
