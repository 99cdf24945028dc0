import { blockWords } from "../weight-format.ts";
import type { Commands } from "./commands.ts";
import common from "./half-common.wgsl?raw";
import panels from "./half-panels.wgsl?raw";
import type { GpuTensor, Memory } from "./memory.ts";
import formats from "./weight-formats.wgsl?raw";
import unpacking from "./weight-words.wgsl?raw";
import entries from "./weights-half.wgsl?raw";

const source = `${common}\n${panels}\n${unpacking}\n${formats}\n${entries}`;
const MOST_PARTS = 256;

/** Formats whose values become f16 by a scale of the whole weight; f16 itself is taken as it is. */
export function isExpanded(dtype: GpuTensor["dtype"]): dtype is "bf16" | "int8" | "int4" {
  return dtype === "bf16" || dtype === "int8" || dtype === "int4";
}

/** Whether `expandHalf` takes a weight [rows, width]. */
export function canExpandHalf({ dtype, shape }: GpuTensor): boolean {
  return isExpanded(dtype) && shape.length === 2 && shape[1]! % 8 === 0;
}

/**
 * Values of a bf16, int8 or int4 weight [rows, width] (width a multiple of 8) as f16 multiples of `weightScale`: in rows,
 * or, where `panelRows` is given, in `pieces` · 8 values of panels.
 */
export function expandHalf(
  commands: Commands,
  w: GpuTensor,
  scale: GpuTensor,
  values: GpuTensor,
  pieces: number,
  panelRows?: number,
): void {
  const entry = panelRows === undefined ? "expand_half" : "expand_panels";
  dispatch(commands, w, entry, "rrw", [w, scale, values], Math.ceil(pieces / 256), [
    0,
    panelRows ?? 0,
    pieces,
  ]);
}

/** f32 [1], a power of two that is found on the device, once for as long as nothing writes to the weight. It is the weight's: do not free it. */
export function weightScale(memory: Memory, commands: Commands, w: GpuTensor): GpuTensor {
  if (w.scaling?.version === w.version) return w.scaling.scale;
  const scale = w.scaling?.scale ?? memory.allocateCopy([1], "f32");
  w.scaling = { scale, version: w.version };
  const parts = Math.max(1, Math.min(MOST_PARTS, Math.ceil(w.length / 4096)));
  const peaks = memory.allocateCopy([parts], "f32");
  dispatch(commands, w, "weight_peaks", "rw", [w, peaks], parts, [parts, 0, 0]);
  dispatch(commands, w, "weight_scale", "rw", [peaks, scale], 1, [parts, 0, 0]);
  memory.free(peaks);
  return scale;
}

function dispatch(
  commands: Commands,
  { dtype, shape, length }: GpuTensor,
  entry: string,
  letters: string,
  buffers: GpuTensor[],
  groups: number,
  more: readonly number[],
): void {
  const [rows, width] = shape as [number, number];
  const sizes = blockWords(dtype, width);
  commands.dispatch({
    kernel: { source, entry, buffers: letters, constants: { FORMAT: dtype } },
    buffers,
    groups,
    uints: [rows, width, sizes.group, sizes.block, sizes.row, ...more],
    work: 4 * length,
  });
}
