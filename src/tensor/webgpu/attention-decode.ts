import { type AttendSteps, attendInSteps } from "../attend-next.ts";
import type { Backend } from "../backend.ts";
import { type AttentionSizes, checkAttendNext } from "../shapes.ts";
import type { HeadNorms, KeyRange } from "../tensor.ts";
import source from "./attention-decode.wgsl?raw";
import { type Context, checkIndices } from "./context.ts";
import type { GpuTensor } from "./memory.ts";

/** Keys of a workgroup: fewer where there are few rows to keep the device busy. */
const KEYS = { few: 64, many: 128 };
const MANY_ROWS = 8;
/** Threads of a workgroup: more where the query heads that share keys have more vec4s. */
const THREADS = { few: 128, many: 256 };
/** Loads of a thread that are under way at one time: of keys, of values, and of parts. */
const MOST_LOADS = 16;
const PART_LOADS = 4;
/** Query heads of a workgroup: their sums are held in registers. */
const MOST_HEADS = 8;
/** Bytes of workgroup memory that WebGPU promises. */
const WORKGROUP_BYTES = 16_384;
/** Largest size of a head. */
const LARGEST = 256;
/** Buffers of the kernel where it norms and turns: more than the 8 that WebGPU guarantees. */
const NEXT_BUFFERS = 10;

/** Whether the keys of these rows are shared out among workgroups. */
export function isDecoding({ most, prefixStart }: KeyRange<GpuTensor>, { size }: AttentionSizes): boolean {
  return most !== undefined && prefixStart === undefined && canDecode(size);
}

/** Whether the kernel for few rows serves heads of that size. */
export function canDecode(size: number): boolean {
  return size % 4 === 0 && size <= LARGEST;
}

export function attendNextOperation(
  context: Context,
  steps: AttendSteps<GpuTensor>,
): Pick<Backend<GpuTensor>, "attendNext"> {
  const { memory, commands, software } = context;
  return {
    attendNext(cache, qkv, norms, tables, step) {
      const sizes = checkAttendNext(cache, qkv, norms, tables, step);
      const { queries, heads, size, half } = sizes;
      const { maxStorageBuffersPerShaderStage: bound } = commands.limits;
      if (software || bound < NEXT_BUFFERS || !canDecode(size) || half % 4 !== 0)
        return attendInSteps(steps, cache, qkv, norms, tables, step);
      checkIndices("attendNext", "position", step.positions, tables.cos.shape[0]!);
      checkIndices("attendNext", "row", step.rows, sizes.keys);
      checkIndices("attendNext", "end", step.ends, sizes.keys + 1);
      const o = memory.allocate([queries, heads * size], "f32");
      const { starts: start, ends: end, most } = step;
      attendToCache(context, { sizes, start, end, most, x: qkv, ...cache, o, next: { norms, ...tables } });
      return o;
    },
  };
}

/** Few rows, and the cache in f32 or f16 of which each sees `most` keys at most. */
interface Decoding {
  sizes: AttentionSizes;
  start: GpuTensor;
  end: GpuTensor;
  most: number;
  /** Queries [Tq,H,D], or with `next` queries, keys and values as `Backend.attendNext` takes them. */
  x: GpuTensor;
  k: GpuTensor;
  v: GpuTensor;
  /** [Tq,H,D] */
  o: GpuTensor;
  /** [Tq,H] */
  lse?: GpuTensor;
  /** How queries and new keys are normed and turned. */
  next?: { norms: HeadNorms<GpuTensor>; cos: GpuTensor; sin: GpuTensor };
}

export function attendToCache(
  { memory, commands, features }: Context,
  { sizes, start, end, most, x, k, v, o, lse, next }: Decoding,
): void {
  const { queries, heads, groups, size } = sizes;
  const constants = decodeConstants(features, sizes, k.dtype === "f16" ? "f16" : "f32", next !== undefined);
  const parts = Math.ceil(Math.min(most, sizes.keys) / constants.KEYS);
  const found = memory.allocate([queries, heads, parts, size + 4], "f32");
  const half = next ? next.cos.shape[1]! / 4 : 0;
  const parameters = {
    uints: [heads, groups, parts, x.length / queries / 4, half],
    floats: [1 / Math.sqrt(size), next?.norms.epsilon ?? 0, next?.norms.offset ?? 0],
  };
  const extra = next ? [next.cos, next.sin, next.norms.query, next.norms.key] : [];
  commands.dispatch({
    kernel: { source, entry: "attention_decode", buffers: next ? "rrrwwwrrrr" : "rrrrrw", constants },
    buffers: [start, end, x, k, v, found, ...extra],
    groups: (queries * heads * parts) / constants.HEADS,
    ...parameters,
    work: 4 * queries * heads * parts * constants.KEYS * size,
  });
  commands.dispatch({
    kernel: { source, entry: "attention_decode_merge", buffers: lse ? "rrrww" : "rrrw", constants },
    buffers: [start, end, found, o, ...(lse ? [lse] : [])],
    groups: queries * heads,
    ...parameters,
    work: 3 * queries * heads * parts * size,
  });
  memory.free(found);
}

/**
 * How workgroups share out the keys: a part for as many of the query heads that see them as registers and workgroup memory
 * hold.
 *
 * @param format of the cache
 * @param next queries and new keys are still to be normed and turned
 */
export function decodeConstants(
  features: Pick<Context["features"], "subgroups" | "subgroupSize">,
  { queries, heads: all, groups, size }: AttentionSizes,
  format: "f32" | "f16",
  next: boolean,
) {
  const keys = queries < MANY_ROWS ? KEYS.few : KEYS.many;
  const vectors = size / 4;
  const threads = (all / groups) * vectors > THREADS.few ? THREADS.many : THREADS.few;
  const subgroup = joined(features);
  const halvings = teamHalvings(subgroup, vectors);
  const team = 2 ** halvings;
  const teams = threads / team;
  const rounds = Math.ceil(keys / teams);
  const slices = Math.min(keys, 2 ** Math.floor(Math.log2(threads / vectors)));
  const bytes = (heads: number, batch: number) =>
    16 * vectors * (heads + batch * slices + 2) +
    4 * (heads * keys + 2 * heads * (threads / subgroup) + 2 * teams);
  const heads = largestDivisor(
    all / groups,
    (n) => n <= MOST_HEADS && n * vectors <= threads && bytes(n, 1) <= WORKGROUP_BYTES,
  );
  const batch = largestDivisor(heads, (n) => bytes(heads, n) <= WORKGROUP_BYTES);
  const halves = format === "f16";
  return {
    KEYS: keys,
    D4: vectors,
    THREADS: threads,
    SUBGROUP: subgroup,
    TEAM: team,
    TEAMS: teams,
    HALVINGS: halvings,
    ROUNDS: rounds,
    KEY_LOADS: largestDivisor(vectors / team, (n) => n * rounds <= MOST_LOADS),
    SLICES: slices,
    VALUE_LOADS: largestDivisor(keys / slices, (n) => n <= MOST_LOADS),
    PART_LOADS,
    HEADS: heads,
    BATCH: batch,
    BATCHES: heads / batch,
    NEXT: next ? 1 : 0,
    NORMS: next ? 2 : 0,
    GIVEN: next ? 0 : 1,
    ACCESS: next ? "read_write" : "read",
    STORED: halves ? "vec2u" : "vec4f",
    LOAD: halves ? "vec4f(unpack2x16float(four.x), unpack2x16float(four.y))" : "four",
    STORE: halves ? "vec2u(pack2x16float(value.xy), pack2x16float(value.zw))" : "value",
    SUBGROUPS: subgroup > 1 ? "enable subgroups;\ndiagnostic(off, subgroup_uniformity);" : "",
    TOP: subgroup > 1 ? "subgroupMax(value)" : "value",
    SUM: subgroup > 1 ? "subgroupAdd(value)" : "value",
  };
}

/** Threads of a subgroup, or 1 where that is not known or there are none. */
function joined({
  subgroups,
  subgroupSize = 1,
}: Pick<Context["features"], "subgroups" | "subgroupSize">): number {
  return subgroups ? subgroupSize : 1;
}

/** Threads that read one key side by side, as a power of two: up to 8, so that they read whole lines of memory. */
function teamHalvings(subgroup: number, vectors: number): number {
  return [3, 2, 1].find((n) => subgroup % 2 ** n === 0 && vectors % 2 ** n === 0) ?? 0;
}

/** Of the divisors of n that fit, and 1. */
function largestDivisor(n: number, fits: (divisor: number) => boolean): number {
  for (let divisor = n; divisor > 1; divisor--) if (n % divisor === 0 && fits(divisor)) return divisor;
  return 1;
}
