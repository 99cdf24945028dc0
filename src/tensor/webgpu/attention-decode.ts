import type { AttentionSizes } from "../shapes.ts";
import type { KeyRange } from "../tensor.ts";
import source from "./attention-decode.wgsl?raw";
import type { Context } from "./context.ts";
import type { GpuTensor } from "./memory.ts";

/** Keys of a workgroup: fewer where there are few rows to keep the device busy. */
const KEYS = { few: 64, many: 128 };
const MANY_ROWS = 8;

/** Whether the keys of these rows are shared out among workgroups. */
export function isDecoding({ most, prefixStart }: KeyRange<GpuTensor>, { size }: AttentionSizes): boolean {
  return most !== undefined && prefixStart === undefined && canDecode(size);
}

/** Whether the kernel for few rows serves heads of that size. */
export function canDecode(size: number): boolean {
  return size % 4 === 0 && size / 4 <= KEYS.few;
}

/** Attention of few rows to a cache in f32 or f16, each to `most` keys at most, into o [Tq,H,D] and lse [Tq,H]. */
export function attendToCache(
  { memory, commands, features }: Context,
  sizes: AttentionSizes,
  { start, end }: KeyRange<GpuTensor>,
  most: number,
  { q, k, v, o, lse }: Record<"q" | "k" | "v" | "o" | "lse", GpuTensor>,
): void {
  const { queries, heads, groups, size } = sizes;
  const keys = queries < MANY_ROWS ? KEYS.few : KEYS.many;
  const parts = Math.ceil(Math.min(most, sizes.keys) / keys);
  const halvings = teamHalvings(features, size / 4);
  const constants = {
    KEYS: keys,
    D4: size / 4,
    SHARING: heads / groups,
    TEAM: 2 ** halvings,
    HALVINGS: halvings,
    ...(k.dtype === "f16"
      ? { STORED: "vec2u", LOAD: "vec4f(unpack2x16float(stored.x), unpack2x16float(stored.y))" }
      : { STORED: "vec4f", LOAD: "stored" }),
    SUBGROUPS: halvings > 0 ? "enable subgroups;\ndiagnostic(off, subgroup_uniformity);" : "",
  };
  const partO = memory.allocate([queries, heads, parts, size], "f32");
  const partSums = memory.allocate([queries, heads, parts, 2], "f32");
  const parameters = { uints: [queries, heads, groups, parts], floats: [1 / Math.sqrt(size)] };
  commands.dispatch({
    kernel: { source, entry: "attention_decode", buffers: "rrrrrww", constants },
    buffers: [start, end, q, k, v, partO, partSums],
    groups: queries * groups * parts,
    ...parameters,
    work: 4 * queries * heads * parts * keys * size,
  });
  commands.dispatch({
    kernel: { source, entry: "attention_decode_merge", buffers: "rrrrww", constants },
    buffers: [start, end, partO, partSums, o, lse],
    groups: Math.ceil((queries * heads * size) / 4 / 64),
    ...parameters,
    work: 3 * queries * heads * parts * size,
  });
  memory.free(partO);
  memory.free(partSums);
}

/** Threads that read one key side by side, as a power of two: up to 8, so that they read whole lines of memory. */
function teamHalvings({ subgroups, subgroupSize }: Context["features"], vectors: number): number {
  if (!subgroups || subgroupSize === undefined) return 0;
  return [3, 2, 1].find((n) => subgroupSize % 2 ** n === 0 && vectors % 2 ** n === 0) ?? 0;
}
