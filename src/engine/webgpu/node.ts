/** Devices in Node, through npm `webgpu` (Dawn). Its native module is loaded only when a GPU is asked for. */
import { InputError } from "../../core/errors.ts";
import type { Backend } from "../../tensor/index.ts";
import { createBackend, type DeviceChoice } from "./backend.ts";

export { createFolder, openFolder } from "./node-folder.ts";

/** Comma-separated Dawn toggles to turn on, for experiments: `GCOPD_DAWN_FEATURES=allow_unsafe_apis,…`. */
export const DAWN_FEATURES = "GCOPD_DAWN_FEATURES";
/** Part of the name of the adapter to take, on machines with several. */
export const DAWN_ADAPTER = "GCOPD_ADAPTER";

const HOW_TO: Partial<Record<NodeJS.Platform, string>> = {
  linux:
    "install the Vulkan loader (Debian and Ubuntu: apt-get install libvulkan1) and the GPU's Vulkan driver (NVIDIA's own, " +
    "else mesa-vulkan-drivers), or name a driver's JSON in VK_ICD_FILENAMES, or use --device cpu",
};

/**
 * `createBackend` on Dawn. After `dispose` nothing keeps the process alive.
 *
 * @throws InputError when `webgpu` was asked for and there is no adapter, or Dawn does not run on this system
 */
export async function createNodeBackend(
  device: DeviceChoice,
  options: { onNote?: (note: string) => void; environment?: NodeJS.ProcessEnv } = {},
): Promise<Backend> {
  const howTo = HOW_TO[process.platform] ?? "update the GPU's driver, or use --device cpu";
  const gpu = device === "cpu" ? null : await openDawn(device, options.environment ?? process.env);
  return createBackend({ device, gpu, howTo, onNote: options.onNote });
}

async function openDawn(device: DeviceChoice, environment: NodeJS.ProcessEnv): Promise<GPU | null> {
  const features = environment[DAWN_FEATURES];
  const adapter = environment[DAWN_ADAPTER];
  try {
    const { create, globals } = await import("webgpu");
    Object.assign(globalThis, globals);
    return create([
      // Elsewhere Dawn's own choice is right (Metal, Direct3D 12).
      ...(process.platform === "linux" ? ["backend=vulkan"] : []),
      ...(adapter ? [`adapter=${adapter}`] : []),
      ...(features ? [`enable-dawn-features=${features}`] : []),
    ]);
  } catch (error) {
    if (device === "auto") return null;
    const reason = error instanceof Error ? error.message : String(error);
    throw new InputError(`WebGPU cannot be loaded in Node on ${process.platform} ${process.arch}: ${reason}`);
  }
}
