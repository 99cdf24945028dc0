import type { Backend } from "../backend.ts";
import { checkRange, elements } from "../shapes.ts";
import { isFrozen } from "../weight-format.ts";
import { BufferPool } from "./buffer-pool.ts";
import { type Commands, checkAlive } from "./commands.ts";
import { type DeviceHealth, MAP_READ, USAGE } from "./device.ts";
import type { GpuTensor, Memory } from "./memory.ts";

type Transfer =
  | "fromArray"
  | "zeros"
  | "write"
  | "read"
  | "allocateWeight"
  | "writeWords"
  | "reshape"
  | "free"
  | "scope"
  | "live"
  | "sync"
  | "submitAhead";

/** Values that are read at a time. */
const LONGEST_READ = 2 ** 26;
/** Bytes of staging buffers that are kept for the next reads. */
const KEPT_STAGING = 2 ** 26;

/** Tensors from the host and back, and waiting, which is where a device's errors come to light. */
export function transferOperations(
  device: GPUDevice,
  memory: Memory,
  commands: Commands,
  health: DeviceHealth,
  /** A frozen weight as f32, to be freed by the caller. */
  expand: (t: GpuTensor) => GpuTensor,
): Pick<Backend<GpuTensor>, Transfer> {
  // Kept, since a driver takes several calls, behind a lock, to make or free one.
  const usage = USAGE.copyDestination | USAGE.mapRead;
  const stagings = new BufferPool(
    (size) => device.createBuffer({ size, usage }),
    device.limits.maxBufferSize,
  );

  function upload(t: GpuTensor, data: Float32Array | Uint32Array): void {
    commands.write(t, data);
    if (data instanceof Uint32Array) t.largest = data.reduce((most, value) => Math.max(most, value), 0);
  }

  /** Submits, runs `wait`, and rejects with what went wrong since the last time. */
  async function settle<R>(wait: () => Promise<R>): Promise<R> {
    commands.flush();
    commands.forget(memory.trim());
    stagings.trim(KEPT_STAGING);
    const generation = memory.endGeneration();
    const [errors, waited] = await Promise.allSettled([health.errors(), health.until(wait())]);
    if (errors.status === "rejected") throw errors.reason;
    if (errors.value !== undefined) {
      memory.distrust(generation);
      // What failed next, such as mapping a buffer that was never made, has the same cause.
      await health.errors();
      throw errors.value;
    }
    if (waited.status === "rejected") throw waited.reason;
    return waited.value;
  }

  /** Through a staging buffer of bounded size, so that reading a large tensor takes no second one on the device. */
  async function download(t: GpuTensor, from: number, count: number): Promise<Float32Array> {
    const out = new Float32Array(count);
    for (let at = 0; at < count; at += LONGEST_READ) {
      const bytes = 4 * Math.min(LONGEST_READ, count - at);
      checkAlive(t);
      const staging = stagings.take(bytes);
      const { buffer } = staging;
      commands.copyRaw(t.buffer, t.offset + (from + at) * 4, buffer, 0, bytes);
      try {
        await settle(async () => {
          await buffer.mapAsync(MAP_READ, 0, bytes);
          out.set(new Float32Array(buffer.getMappedRange(0, bytes)), at);
        });
      } catch (error) {
        // It may never have been made, or wait for what does not come.
        buffer.destroy();
        throw error;
      }
      buffer.unmap();
      stagings.giveBack(staging);
    }
    return out;
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
      if (
        isFrozen(t.dtype) ||
        data.length !== t.length ||
        data instanceof Float32Array !== (t.dtype === "f32")
      )
        throw new Error(`write: ${data.length} values do not fit ${t.dtype}[${t.shape.join(",")}]`);
      upload(t, data);
    },

    async read(t, range) {
      health.check();
      checkAlive(t);
      if (t.dtype === "u32") throw new Error("expected a tensor of f32, got u32");
      checkRange(t, range);
      const { at, count } = range ?? { at: 0, count: t.length };
      if (isFrozen(t.dtype)) {
        const expanded = expand(t);
        try {
          return await download(expanded, at, count);
        } finally {
          memory.free(expanded);
        }
      }
      return download(t, at, count);
    },

    allocateWeight(format, shape) {
      health.check();
      return memory.allocate(shape, format);
    },

    writeWords(t, at, words) {
      checkAlive(t);
      if (t.dtype === "u32" || at < 0 || at + words.length > t.words)
        throw new Error(
          `writeWords: ${words.length} words at ${at} do not fit ${t.dtype}[${t.shape.join(",")}]`,
        );
      commands.write(t, words, at);
    },

    reshape(t, shape) {
      checkAlive(t);
      if (isFrozen(t.dtype) || elements(shape) !== t.length)
        throw new Error(`reshape: [${t.shape.join(",")}] has not as many values as [${shape.join(",")}]`);
      t.shape = [...shape];
      return t;
    },

    free(...tensors) {
      for (const t of tensors) if (t) memory.free(t);
    },
    scope: (work) => memory.scope(work),
    live: () => memory.live(),
    submitAhead: () => commands.submitAhead(),
    async sync() {
      health.check();
      await settle(() => device.queue.onSubmittedWorkDone());
    },
  };
}
