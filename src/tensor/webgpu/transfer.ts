import type { Backend } from "../backend.ts";
import { elements } from "../shapes.ts";
import { type Commands, checkAlive } from "./commands.ts";
import { type DeviceHealth, MAP_READ, USAGE } from "./device.ts";
import type { GpuTensor, Memory } from "./memory.ts";

type Transfer =
  | "fromArray"
  | "zeros"
  | "write"
  | "read"
  | "reshape"
  | "free"
  | "scope"
  | "live"
  | "sync"
  | "flush";

/** Tensors from the host and back, and waiting, which is where a device's errors come to light. */
export function transferOperations(
  device: GPUDevice,
  memory: Memory,
  commands: Commands,
  health: DeviceHealth,
): Pick<Backend<GpuTensor>, Transfer> {
  function upload(t: GpuTensor, data: Float32Array | Uint32Array): void {
    commands.write(t, data);
    if (data instanceof Uint32Array) t.largest = data.reduce((most, value) => Math.max(most, value), 0);
  }

  /** Submits, runs `wait`, and rejects with what went wrong since the last time. */
  async function settle<R>(wait: () => Promise<R>): Promise<R> {
    commands.flush();
    memory.trim();
    const generation = memory.endGeneration();
    const [errors, waited] = await Promise.allSettled([health.errors(), health.until(wait())]);
    if (errors.status === "rejected") throw errors.reason;
    if (errors.value !== undefined) {
      memory.distrust(generation);
      throw new Error(errors.value);
    }
    if (waited.status === "rejected") throw waited.reason;
    return waited.value;
  }

  return {
    fromArray(data, shape) {
      health.check();
      if (data.length !== elements(shape))
        throw new Error(`${data.length} values do not fill the shape [${shape.join(",")}]`);
      const t = memory.allocate(shape, data instanceof Float32Array ? "f32" : "u32");
      upload(t, data);
      return t;
    },

    zeros(shape, dtype = "f32") {
      health.check();
      const t = memory.allocate(shape, dtype);
      commands.clear(t);
      return t;
    },

    write(t, data) {
      checkAlive(t);
      if (data.length !== t.length || data instanceof Float32Array !== (t.dtype === "f32"))
        throw new Error(`write: ${data.length} values do not fit ${t.dtype}[${t.shape.join(",")}]`);
      upload(t, data);
    },

    async read(t) {
      health.check();
      checkAlive(t);
      if (t.dtype !== "f32") throw new Error("expected a tensor of f32, got u32");
      if (t.length === 0) return new Float32Array(0);
      const staging = device.createBuffer({ size: t.bytes, usage: USAGE.copyDestination | USAGE.mapRead });
      commands.copyRaw(t.buffer, 0, staging, 0, t.bytes);
      try {
        return await settle(async () => {
          await staging.mapAsync(MAP_READ);
          return new Float32Array(staging.getMappedRange().slice(0));
        });
      } finally {
        staging.destroy();
      }
    },

    reshape(t, shape) {
      checkAlive(t);
      if (elements(shape) !== t.length)
        throw new Error(`reshape: [${t.shape.join(",")}] has not as many values as [${shape.join(",")}]`);
      t.shape = [...shape];
      return t;
    },

    free(...tensors) {
      for (const t of tensors) if (t) memory.free(t);
    },
    scope: (work) => memory.scope(work),
    live: () => memory.live(),
    flush: () => commands.flush(),
    async sync() {
      health.check();
      await settle(() => device.queue.onSubmittedWorkDone());
    },
  };
}
