import type { Backend } from "../backend.ts";
import { checkPiece, type PieceTransfer } from "../pieces.ts";
import { type Commands, checkAlive } from "./commands.ts";
import { type DeviceHealth, MAP_READ, MAP_WRITE, USAGE } from "./device.ts";
import { type GpuTensor, type Memory, WINDOW_STEP } from "./memory.ts";

const ALIGNMENT = 16;

/** Pieces of tensors through mapped staging buffers, which are kept from piece to piece until `release`. */
export function gpuPieces(
  device: GPUDevice,
  memory: Memory,
  commands: Commands,
  health: DeviceHealth,
  addInPlace: Backend<GpuTensor>["addInPlace"],
): PieceTransfer<GpuTensor> {
  const idle: Record<"read" | "write", GPUBuffer[]> = { read: [], write: [] };
  const usage = {
    read: USAGE.mapRead | USAGE.copyDestination,
    write: USAGE.mapWrite | USAGE.copySource,
  };

  /** A staging buffer of at least so many bytes; afterwards it is kept for the next piece, after an error destroyed. */
  async function staged(kind: "read" | "write", bytes: number, work: (b: GPUBuffer) => Promise<void>) {
    health.check();
    const size = Math.ceil(bytes / ALIGNMENT) * ALIGNMENT;
    const place = idle[kind].findIndex((buffer) => buffer.size >= size);
    const [kept] = place < 0 ? [] : idle[kind].splice(place, 1);
    const buffer = kept ?? device.createBuffer({ size, usage: usage[kind] });
    try {
      await work(buffer);
    } catch (error) {
      buffer.destroy();
      // A buffer that could not be made fails when it is mapped: the first error tells why.
      throw (await health.errors()) ?? error;
    }
    idle[kind].push(buffer);
  }

  function addTo(t: GpuTensor, at: number, given: GpuTensor): void {
    const { length: count } = given;
    // A kernel goes by whole vec4s, and may touch what lies behind a tensor but not behind a piece.
    if (at % WINDOW_STEP === 0 && (count % 4 === 0 || at + count === t.length)) {
      addInPlace(t.window(at, [count]), given);
      return;
    }
    // A kernel cannot be bound to any place of a tensor.
    const own = memory.allocate([count], "f32");
    try {
      commands.copy(t, at * 4, own, 0, count * 4);
      addInPlace(own, given);
      commands.copy(own, 0, t, at * 4, count * 4);
    } finally {
      memory.free(own);
    }
  }

  return {
    read: (t, at, count, use) =>
      staged("read", count * 4, async (staging) => {
        checkAlive(t);
        checkPiece(t, t.length, at, count);
        commands.copyRaw(t.buffer, at * 4, staging, 0, count * 4);
        commands.flush();
        await health.until(staging.mapAsync(MAP_READ, 0, count * 4));
        await use(new Uint8Array(staging.getMappedRange(0, count * 4)));
        staging.unmap();
      }),

    write: (t, at, count, how, fill) =>
      staged("write", count * 4, async (staging) => {
        checkPiece(t, t.length, at, count);
        await health.until(staging.mapAsync(MAP_WRITE, 0, count * 4));
        await fill(new Uint8Array(staging.getMappedRange(0, count * 4)));
        staging.unmap();
        checkAlive(t);
        if (how === "replace") {
          commands.copyRaw(staging, 0, t.buffer, at * 4, count * 4);
          t.version++;
        } else {
          const given = memory.allocate([count], "f32");
          try {
            commands.copyRaw(staging, 0, given.buffer, 0, count * 4);
            addTo(t, at, given);
          } finally {
            memory.free(given);
          }
        }
        commands.flush();
      }),

    release() {
      for (const kind of ["read", "write"] as const)
        for (const buffer of idle[kind].splice(0)) buffer.destroy();
    },
  };
}
