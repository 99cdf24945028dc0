import type { Backend } from "../backend.ts";
import { checkPiece, type PieceTransfer, pieceBytes } from "../pieces.ts";
import bf16 from "./bf16-pieces.wgsl?raw";
import { type Commands, checkAlive } from "./commands.ts";
import { groupsOf } from "./context.ts";
import { type DeviceHealth, MAP_READ, MAP_WRITE } from "./device.ts";
import { type GpuTensor, type Memory, WINDOW_STEP } from "./memory.ts";
import { StagingBuffers } from "./staging.ts";

/** Pieces of tensors through mapped staging buffers, which are kept from piece to piece until `release`. */
export function gpuPieces(
  device: GPUDevice,
  memory: Memory,
  commands: Commands,
  health: DeviceHealth,
  addInPlace: Backend<GpuTensor>["addInPlace"],
): PieceTransfer<GpuTensor> {
  const staging = {
    read: new StagingBuffers(device, memory, health, "read"),
    write: new StagingBuffers(device, memory, health, "write"),
  };

  /** Has `work` change the values at, at + 1, … of a tensor in place. */
  function change(t: GpuTensor, at: number, count: number, work: (part: GpuTensor) => void): void {
    // A kernel goes by whole vec4s, and may touch what lies behind a tensor but not behind a piece.
    if (at % WINDOW_STEP === 0 && (count % 4 === 0 || at + count === t.length)) {
      work(t.window(at, [count]));
      return;
    }
    // A kernel cannot be bound to any place of a tensor.
    memory.scope(() => {
      const own = memory.allocate([count], "f32");
      commands.copy(t, at * 4, own, 0, count * 4);
      work(own);
      commands.copy(own, 0, t, at * 4, count * 4);
    });
  }

  function run(entry: string, letters: string, part: GpuTensor, halves: GpuTensor): void {
    const count = Math.ceil(part.length / 4);
    commands.dispatch({
      kernel: { source: bf16, entry, buffers: letters },
      buffers: [part, halves],
      groups: groupsOf(count),
      uints: [count],
      work: 4 * part.length,
    });
  }

  /** Room for so many values of bf16, up to whole vec4s. */
  const halvesOf = (count: number): GpuTensor => memory.allocate([2 * Math.ceil(count / 4)], "u32");

  return {
    read: (t, at, count, format, use) =>
      staging.read.use(count * 4, async (buffer) => {
        checkAlive(t);
        checkPiece(t, t.length, at, count);
        const bytes = pieceBytes(count, format);
        const mapped = wholeWords(bytes);
        if (format === "f32") commands.copyRaw(t.buffer, at * 4, buffer, 0, bytes);
        else
          memory.scope(() => {
            const halves = halvesOf(count);
            change(t, at, count, (part) => run("round_to", "ww", part, halves));
            commands.copyRaw(halves.buffer, 0, buffer, 0, mapped);
          });
        commands.flush();
        await health.until(buffer.mapAsync(MAP_READ, 0, mapped));
        await use(new Uint8Array(buffer.getMappedRange(0, mapped), 0, bytes));
        buffer.unmap();
      }),

    write: (t, at, count, format, how, fill) =>
      staging.write.use(count * 4, async (buffer) => {
        checkPiece(t, t.length, at, count);
        const bytes = pieceBytes(count, format);
        const mapped = wholeWords(bytes);
        await health.until(buffer.mapAsync(MAP_WRITE, 0, mapped));
        await fill(new Uint8Array(buffer.getMappedRange(0, mapped), 0, bytes));
        buffer.unmap();
        checkAlive(t);
        if (format === "f32" && how === "replace") {
          commands.copyRaw(buffer, 0, t.buffer, at * 4, bytes);
          t.version++;
        } else
          memory.scope(() => {
            const given = format === "f32" ? memory.allocate([count], "f32") : halvesOf(count);
            commands.copyRaw(buffer, 0, given.buffer, 0, mapped);
            change(t, at, count, (part) => {
              if (format === "f32") addInPlace(part, given);
              else run(`${how}_rounded`, "wr", part, given);
            });
          });
        commands.flush();
      }),

    release() {
      staging.read.release();
      staging.write.release();
    },
  };
}

/** Copies and mapped ranges take whole words of 32 bits. */
function wholeWords(bytes: number): number {
  return Math.ceil(bytes / 4) * 4;
}
