/** Devices in Node, through Dawn. */
import { InputError } from "../../core/errors.ts";
import type { Backend } from "../../tensor/index.ts";
import { createBackend, type DeviceChoice } from "./backend.ts";
import { DAWN_FEATURES, openDawn } from "./dawn.ts";
import { nodeTuningStore } from "./node-tuning-store.ts";

export { createFolder, openFolder } from "./node-folder.ts";

/**
 * What f16 operands need: matrix units are behind the first, f16 on NVIDIA behind the second, and without the third Dawn
 * checks every index of our kernels again, which halves the speed of products. All kernels are our own.
 */
export const F16_FEATURES = "allow_unsafe_apis,vulkan_enable_f16_on_nvidia,disable_robustness";
/** Part of the name of the adapter to take, on machines with several. */
export const DAWN_ADAPTER = "GCOPD_ADAPTER";

const HOW_TO: Partial<Record<NodeJS.Platform, string>> = {
  linux:
    "install the Vulkan loader (Debian and Ubuntu: apt-get install libvulkan1) and the GPU's Vulkan driver (NVIDIA's own, " +
    "else mesa-vulkan-drivers), or name a driver's JSON in VK_ICD_FILENAMES, or use --device cpu",
};

/**
 * `createBackend` on Dawn. After `dispose` nothing keeps the process alive. What is measured of kernels is kept in the
 * user's cache folder.
 *
 * @throws InputError when `webgpu` was asked for and there is no adapter, or Dawn does not run on this system
 */
export async function createNodeBackend(
  device: DeviceChoice,
  options: {
    compute?: "f32" | "f16";
    onNote?: (note: string) => void;
    environment?: NodeJS.ProcessEnv;
  } = {},
): Promise<Backend> {
  const howTo = HOW_TO[process.platform] ?? "update the GPU's driver, or use --device cpu";
  const { compute, onNote, environment = process.env } = options;
  const tuning = nodeTuningStore(environment);
  const gpu = device === "cpu" ? null : await openGpu(device, compute, environment);
  return createBackend({ device, gpu, howTo, compute, tuning, onNote });
}

async function openGpu(
  device: DeviceChoice,
  compute: "f32" | "f16" | undefined,
  environment: NodeJS.ProcessEnv,
): Promise<GPU | null> {
  const features = environment[DAWN_FEATURES] ?? (compute === "f16" ? F16_FEATURES : undefined);
  const adapter = environment[DAWN_ADAPTER];
  try {
    return await openDawn([
      ...(adapter ? [`adapter=${adapter}`] : []),
      ...(features ? [`enable-dawn-features=${features}`] : []),
    ]);
  } catch (error) {
    if (device === "auto") return null;
    const reason = error instanceof Error ? error.message : String(error);
    throw new InputError(`WebGPU cannot be loaded in Node on ${process.platform} ${process.arch}: ${reason}`);
  }
}
