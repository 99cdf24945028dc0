import type { Backend } from "../backend.ts";
import { attentionOperations } from "./attention.ts";
import { Commands } from "./commands.ts";
import type { Context } from "./context.ts";
import { type ComputeDevice, DeviceHealth, type DeviceOptions, requestDevice } from "./device.ts";
import { elementwiseOperations } from "./elementwise.ts";
import { headOperations } from "./head.ts";
import { linearOperations } from "./linear.ts";
import { type GpuTensor, Memory } from "./memory.ts";
import { normOperations } from "./norm.ts";
import { optimizerOperations } from "./optimizer.ts";
import { ropeOperations } from "./rope.ts";
import { rowOperations } from "./rows.ts";
import { transferOperations } from "./transfer.ts";

export { type ComputeDevice, type DeviceOptions, requestDevice, TURN_ON_WEBGPU } from "./device.ts";
export type { GpuTensor } from "./memory.ts";

export interface WebGpuOptions extends DeviceOptions {
  /**
   * How matrices are multiplied: `shared` through workgroup memory (GPUs), `tile` in registers alone (software adapters,
   * for which barriers are dear). By default whichever suits the adapter.
   */
  matmul?: "tile" | "shared";
}

export interface WebGpuBackend extends Backend<GpuTensor> {
  /** For tests and measurements; its owner is the backend, which ends it in `dispose`. */
  readonly device: GPUDevice;
  /** The adapter computes on the processor. */
  readonly software: boolean;
}

/**
 * Every operation as WGSL kernels in f32, without optional features, on the adapter that `gpu` offers
 * (`navigator.gpu` in a browser, `create([])` of npm `webgpu` in Node), or on a device that `requestDevice` gave.
 * @throws Error, one line that says how to turn WebGPU on, when there is no adapter.
 */
export async function createWebGpuBackend(
  gpu: GPU | ComputeDevice,
  options: WebGpuOptions = {},
): Promise<WebGpuBackend> {
  const compute = "device" in gpu ? gpu : await requestDevice(gpu, options);
  const { device, software, description } = compute;
  // Held until `dispose`, and let go then, since it also keeps Node alive.
  const held = new Set([compute.gpu]);
  const memory = new Memory(device);
  const health = new DeviceHealth(device, () => memory.describe());
  const commands = new Commands(compute, health);
  const context: Context = {
    memory,
    commands,
    software,
    matmul: options.matmul ?? (software ? "tile" : "shared"),
  };
  return {
    kind: "webgpu",
    description,
    device,
    software,
    ...transferOperations(device, memory, commands, health),
    ...linearOperations(context),
    ...elementwiseOperations(context),
    ...rowOperations(context),
    ...normOperations(context),
    ...ropeOperations(context),
    ...attentionOperations(context),
    ...headOperations(context),
    ...optimizerOperations(context),
    dispose() {
      health.dispose();
      memory.reset();
      device.destroy();
      held.clear();
    },
  };
}
