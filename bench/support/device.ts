import { spawn } from "node:child_process";
import { DAWN_FEATURES, openDawn } from "../../src/engine/native/dawn.ts";
import { createWebGpuBackend, requestDevice, type WebGpuBackend } from "../../src/tensor/index.ts";
import { openGpu } from "../../test/webgpu.ts";

export interface Opened {
  backend: WebGpuBackend;
  toggles: string;
  /** Format of the operands of matrix products: asked for, or f16 where the adapter has matrix units. */
  operands: "f32" | "f16";
}

/** Dawn's toggles from the environment, comma-separated. */
export const TOGGLES = process.env[DAWN_FEATURES] ?? "";

/** The GPU of this machine with `TOGGLES`; without one, the software adapter. */
export async function openBestGpu(flags: readonly string[] = []): Promise<GPU> {
  const best = await openDawn([...(TOGGLES ? [`enable-dawn-features=${TOGGLES}`] : []), ...flags]);
  return (await best.requestAdapter()) ? best : openGpu();
}

/** The best adapter of this machine, with the operands asked for, or f16 where it has matrix units. */
export async function openAdapter(operands: string | undefined): Promise<Opened> {
  // Timestamps as the device gives them, not in steps of 0.1 ms.
  const gpu = await openBestGpu(["disable-dawn-features=timestamp_quantization"]);
  const device = await requestDevice(gpu);
  const half = operands ?? (device.features.matrices.length > 0 ? "f16" : "f32");
  if (half !== "f16" && half !== "f32") throw new Error(`--compute: f16 or f32, not ${half}`);
  return { backend: await createWebGpuBackend(device, { compute: half }), toggles: TOGGLES, operands: half };
}

/** Largest memory of NVIDIA's first card in use while it watches, in MiB; null where `nvidia-smi` is not there. */
export function watchMemory(): { stop(): number | null } {
  let most: number | null = null;
  const query = ["--query-gpu=memory.used", "--format=csv,noheader,nounits", "-i", "0", "-lms", "100"];
  const child = spawn("nvidia-smi", query, { stdio: ["ignore", "pipe", "ignore"] });
  child.on("error", () => {});
  child.stdout.on("data", (data: Buffer) => {
    for (const line of data.toString().split("\n"))
      if (line.trim() !== "") most = Math.max(most ?? 0, Number(line));
  });
  return {
    stop() {
      child.kill();
      return most;
    },
  };
}
