/** Which device computes: WebGPU where a real adapter is, else the plain TypeScript reference, which says that it is slow. */
import { InputError } from "../../core/errors.ts";
import {
  type Backend,
  createReferenceBackend,
  createWebGpuBackend,
  type TuningStore,
  type WebGpuBackend,
  type WebGpuOptions,
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
  /** Format of the operands of matrix products on WebGPU: see `WebGpuOptions.compute`. Default f32. */
  compute?: "f32" | "f16" | "auto";
  /** Milliseconds in which an adapter may still come: a browser that has just started has none yet. Default 0. */
  patience?: number;
  /** Where measured choices of kernels are kept; false: none are measured (see `WebGpuOptions.tuning`). */
  tuning?: TuningStore | false;
  /** One line for a person when `auto` falls back, or choices of kernels cannot be measured or kept. */
  onNote?: (note: string) => void;
}

/** Milliseconds between two questions for an adapter. */
const ADAPTER_PAUSE = 100;

const SLOW = "computing with plain TypeScript on one processor thread, which is slow";

/**
 * Opens a device. The caller disposes the backend, which ends the device and everything on it.
 *
 * @throws InputError, one line: how to get an adapter, when `webgpu` was asked for and there is none; what is lacking,
 * when f16 was asked for and the device cannot compute in it
 */
export async function createBackend(options: BackendOptions): Promise<Backend> {
  const { device, gpu, howTo, compute = "f32", patience = 0, onNote } = options;
  const tuning = options.tuning === false ? false : { store: options.tuning, onNote };
  if (device === "cpu") {
    if (compute === "f16") throw new InputError("compute f16: the CPU device computes in f32 only");
    return createReferenceBackend();
  }
  const found = gpu ? await open(gpu, patience, { compute, tuning }) : "this system offers none";
  if (typeof found === "string") {
    if (compute === "f16")
      throw new InputError(
        found.startsWith("compute f16") ? found : `compute f16: no WebGPU device: ${found}; ${howTo}`,
      );
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
async function open(gpu: GPU, patience: number, options: WebGpuOptions): Promise<WebGpuBackend | string> {
  const until = performance.now() + patience;
  while ((await gpu.requestAdapter({ powerPreference: "high-performance" })) === null) {
    if (performance.now() >= until) return "no adapter was found";
    await new Promise((resolve) => setTimeout(resolve, ADAPTER_PAUSE));
  }
  try {
    return await createWebGpuBackend(gpu, options);
  } catch (error) {
    return (error instanceof Error ? error.message : String(error)).replace(/\.?\s*$/, "");
  }
}

/** Narrows a backend to what only a WebGPU device tells. */
export const isWebGpu = (backend: Backend): backend is WebGpuBackend => backend.kind === "webgpu";
