/** Devices in a page or a Web Worker. */
import type { Backend } from "../../tensor/index.ts";
import { createBackend, type DeviceChoice } from "./backend.ts";
import { originTuningStore } from "./origin-tuning-store.ts";

const HOW_TO =
  "use a current Chrome, Edge, Safari or Firefox with hardware acceleration on (Chromium on Linux: start it with " +
  "--enable-unsafe-webgpu --enable-features=Vulkan), or choose the CPU";

/** Seen on a card: a page that was opened with the browser had no adapter for its first moments. */
const PATIENCE = 2000;

/** `createBackend` on `navigator.gpu`. With `tuning`, kernels are chosen by measuring, and the choice is kept in this origin. */
export function createBrowserBackend(
  device: DeviceChoice,
  {
    tuning = false,
    ...options
  }: { compute?: "f32" | "f16" | "auto"; tuning?: boolean; onNote?: (note: string) => void } = {},
): Promise<Backend> {
  // Absent in insecure contexts and where the browser has no WebGPU, whatever the types say.
  const gpu = (globalThis.navigator as Partial<Navigator> | undefined)?.gpu ?? null;
  return createBackend({
    ...{ device, gpu, howTo: HOW_TO, patience: PATIENCE, tuning: tuning && originTuningStore() },
    ...options,
  });
}
