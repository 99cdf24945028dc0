import { type FloatFormat, FORMAT_BYTES } from "../number-format.ts";
import type { WeightFormat } from "../tensor.ts";
import { blockWords, LARGEST_BF16, LARGEST_F16, wordOfRow } from "../weight-format.ts";
import type { WeightUpload } from "../weight-upload.ts";
import { checkAlive } from "./commands.ts";
import { type Context, groupsOf } from "./context.ts";
import { type DeviceHealth, MAP_WRITE } from "./device.ts";
import { type GpuTensor, WINDOW_STEP } from "./memory.ts";
import { StagingBuffers } from "./staging.ts";
import source from "./weight-upload.wgsl?raw";

/** Pieces that are under way to the device at a time. */
const TURNS = 4;

/** The largest magnitude of a value that a format takes, as the bits of an f32. */
const LARGEST: Readonly<Record<WeightFormat, number>> = {
  f32: 0x7f7fffff,
  f16: bitsOf(LARGEST_F16),
  bf16: bitsOf(LARGEST_BF16),
  int8: 0,
  int4: 0,
};

function bitsOf(value: number): number {
  return new Uint32Array(Float32Array.of(value).buffer)[0]!;
}

/**
 * Weights through mapped staging buffers, brought to their format by a kernel.
 *
 * @param read all values of an f32 tensor, once everything before is done
 */
export function weightUpload(
  context: Context,
  device: GPUDevice,
  health: DeviceHealth,
  read: (t: GpuTensor) => Promise<Float32Array>,
): WeightUpload<GpuTensor> {
  const { memory, commands, bindingLimit, software } = context;
  const staging = new StagingBuffers(device, memory, health, "write", TURNS);
  /** [1]: whether a kernel declined anything. */
  let flag: GpuTensor | undefined;

  function takes(t: GpuTensor, row: number, values: number): boolean {
    // Where the device is the host's processor, the host makes the other formats as fast.
    if (software && t.dtype !== "f32") return false;
    if (t.dtype === "u32" || values % 4 !== 0 || 4 * values > bindingLimit) return false;
    const width = widthOf(t);
    const { group } = blockWords(t.dtype, width);
    return (group === 0 || width % group === 0) && wordOfRow(t.dtype, width, row) % WINDOW_STEP === 0;
  }

  function convert(given: GpuTensor, to: GpuTensor, format: FloatFormat): void {
    flag ??= cleared();
    const dtype = to.dtype as WeightFormat;
    const { group, block } = blockWords(dtype, widthOf(to));
    const count = to.length / (group || 4);
    const halves = dtype === "f16" || dtype === "bf16";
    commands.dispatch({
      kernel: {
        source,
        entry: group > 0 ? `upload_${dtype}` : "upload_values",
        buffers: "rww",
        constants: {
          FROM: format,
          LARGEST: LARGEST[dtype],
          HALVES: halves ? 1 : 0,
          HALF: halves ? `half_${dtype}` : "half_bf16",
        },
      },
      buffers: [given, to, flag],
      groups: groupsOf(count),
      uints: [count, group, block],
      work: 8 * to.length,
    });
  }

  function cleared(): GpuTensor {
    const made = memory.allocateCopy([1], "f32");
    commands.clear(made);
    return made;
  }

  return {
    takes,

    write: (t, row, format, bytes) =>
      staging.use(bytes.length, async (buffer) => {
        await health.until(buffer.mapAsync(MAP_WRITE, 0, bytes.length));
        new Uint8Array(buffer.getMappedRange(0, bytes.length)).set(bytes);
        buffer.unmap();
        checkAlive(t);
        const width = widthOf(t);
        const values = bytes.length / FORMAT_BYTES[format];
        memory.scope(() => {
          const given = memory.allocate([bytes.length / 4], "u32");
          commands.copyRaw(buffer, 0, given.buffer, 0, bytes.length);
          const to = t.window(wordOfRow(t.dtype as WeightFormat, width, row), [values / width, width]);
          convert(given, to, format);
        });
        commands.flush();
      }),

    async declined() {
      if (flag === undefined) return false;
      const [left] = await read(flag);
      if (left !== 0) commands.clear(flag);
      return left !== 0;
    },

    release() {
      staging.release();
      // One that was made while memory ran out must not be there for the next weights.
      if (flag !== undefined && !flag.freed) memory.free(flag);
      flag = undefined;
    },
  };
}

/** Values per row, which is one of the last dimension. */
function widthOf({ shape }: GpuTensor): number {
  return shape.at(-1) ?? 1;
}
