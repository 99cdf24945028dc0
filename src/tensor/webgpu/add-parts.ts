import type { Context } from "./context.ts";
import { groupsOf } from "./context.ts";
import type { GpuTensor } from "./memory.ts";
import sumParts from "./sum-parts.wgsl?raw";

/** Parts that one thread adds up where there are few sums, each of many parts. */
const MANY_PARTS = 64;

const FEW_SUMS = 2 ** 15;

/** y[at + i] (+)= Σ_s parts[s, i], i < count */
export function addParts(
  context: Context,
  parts: GpuTensor,
  partCount: number,
  count: number,
  y: GpuTensor,
  at: number,
  accumulate: boolean,
): void {
  const { memory, commands } = context;
  const add = (from: GpuTensor, many: number, to: GpuTensor, place: number, more: boolean, chunk: number) => {
    const chunks = Math.ceil(many / chunk);
    commands.dispatch({
      kernel: { source: sumParts, entry: "sum_parts", buffers: "rw" },
      buffers: [from, to],
      groups: groupsOf(count * chunks),
      uints: [count, many, more ? 1 : 0, place, chunk, chunks],
      work: many * count,
    });
  };
  if (partCount <= 2 * MANY_PARTS || count >= FEW_SUMS) {
    add(parts, partCount, y, at, accumulate, partCount);
    return;
  }
  const chunks = Math.ceil(partCount / MANY_PARTS);
  const fewer = memory.allocate([chunks, count], "f32");
  add(parts, partCount, fewer, 0, false, MANY_PARTS);
  addParts(context, fewer, chunks, count, y, at, accumulate);
  memory.free(fewer);
}
