/** Which device computes: WebGPU where a real adapter is, else the plain TypeScript reference, which says that it is slow. */
import { InputError } from "../../core/errors.ts";
import {
  type Backend,
  createReferenceBackend,
  createWebGpuBackend,
  type WebGpuBackend,
} from "../../tensor/index.ts";

/** `auto` takes WebGPU when the adapter is a real GPU; software adapters must be asked for as `webgpu`. */
export type DeviceChoice = "auto" | "webgpu" | "cpu";

export const DEVICE_CHOICES = ["auto", "webgpu", "cpu"] as const satisfies readonly DeviceChoice[];

export interface BackendOptions {
  device: DeviceChoice;
  /** `navigator.gpu` or what npm `webgpu` makes; absent or null where there is no WebGPU. */
  gpu?: GPU | null;
  /** How to get an adapter here: the end of the message when `webgpu` was asked for and there is none. */
  howTo: string;
  /** One line for a person when `auto` falls back. */
  onNote?: (note: string) => void;
}

const SLOW = "computing with plain TypeScript on one processor thread, which is slow";

/**
 * Opens a device. The caller disposes the backend, which ends the device and everything on it.
 *
 * @throws InputError, one line that says how to get an adapter, when `webgpu` was asked for and there is none
 */
export async function createBackend(options: BackendOptions): Promise<Backend> {
  const { device, gpu, howTo, onNote } = options;
  if (device === "cpu") return createReferenceBackend();
  const found = gpu ? await open(gpu) : "this system offers none";
  if (typeof found === "string") {
    if (device === "webgpu") throw new InputError(`no WebGPU device: ${found}; ${howTo}`);
    onNote?.(`No WebGPU device (${found}): ${SLOW}.`);
    return createReferenceBackend();
  }
  if (device === "auto" && found.software) {
    const { description } = found;
    found.dispose();
    onNote?.(
      `The only WebGPU adapter, ${description}, is software: ${SLOW}. Device webgpu takes it all the same.`,
    );
    return createReferenceBackend();
  }
  return found;
}

/** The device, or why there is none. */
async function open(gpu: GPU): Promise<WebGpuBackend | string> {
  if ((await gpu.requestAdapter({ powerPreference: "high-performance" })) === null)
    return "no adapter was found";
  try {
    return await createWebGpuBackend(gpu);
  } catch (error) {
    return (error instanceof Error ? error.message : String(error)).replace(/\.?\s*$/, "");
  }
}
