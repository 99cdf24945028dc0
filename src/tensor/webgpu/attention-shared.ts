import type { AttentionSizes } from "../shapes.ts";
import rowsForward from "./attention-rows-forward.wgsl?raw";
import backward from "./attention-shared-backward.wgsl?raw";
import forward from "./attention-shared-forward.wgsl?raw";
import type { Commands } from "./commands.ts";
import type { GpuTensor } from "./memory.ts";

/** Query or key rows that a workgroup holds. */
export const SHARED_ROWS = 32;

const BUFFERS = { forward: "rrrrww", dq: "rrrrrrw", dkv: "rrrrrrww" } as const;

/**
 * Attention in f32 through tiles in workgroup memory, for GPUs. Buffers: `forward` q, k, v, ranges, o, lse; `dq` q, k, v,
 * dout, stats, ranges, dq; `dkv` q, k, v, dout, stats, queryEnd, dk, dv. `parts` are forward's: how many, and keys a part.
 */
export function runShared(
  commands: Commands,
  pass: keyof typeof BUFFERS,
  buffers: readonly GpuTensor[],
  { queries, keys, heads, groups, size }: AttentionSizes,
  work: number,
  parts: readonly number[] = [],
): void {
  const ofKeys = pass === "dkv";
  const chunks = Math.ceil(size / 32);
  const constants = {
    D4: size / 4,
    CHUNKS: chunks,
    ONE_CHUNK: chunks === 1 ? 1 : 0,
    MANY_CHUNKS: chunks === 1 ? 0 : 1,
    WHICH: pass,
    OF_QUERIES: ofKeys ? 0 : 1,
    OF_KEYS: ofKeys ? 1 : 0,
    ROWS: ofKeys ? "keys" : "queries",
    HELD: ofKeys ? "keys" : "queries",
    HELD_HEAD: ofKeys ? "kv_head" : "head",
    WALKED: ofKeys ? "queries" : "keys",
    WALKED_HEAD: ofKeys ? "head" : "kv_head",
  };
  const source = pass === "forward" ? forward : backward;
  commands.dispatch({
    kernel: { source, entry: `attention_shared_${pass}`, buffers: BUFFERS[pass], constants },
    buffers,
    groups: Math.ceil((ofKeys ? keys : queries) / SHARED_ROWS) * (ofKeys ? groups : heads) * (parts[0] ?? 1),
    uints: [queries, keys, heads, groups, ...parts],
    floats: [1 / Math.sqrt(size)],
    work,
  });
}

/** Tokens of a workgroup of `runRows`. */
const TOKENS = 64;
/** Values of query rows that a thread holds, and as many of results. */
const HELD_VALUES = 64;

/** Query heads that a thread of `runRows` holds of its token; 0 where a head is too large for it. */
export function heldHeads({ heads, groups, size }: AttentionSizes): number {
  const shared = heads / groups;
  for (let held = Math.min(shared, Math.floor(HELD_VALUES / size)); held > 0; held -= 1)
    if (shared % held === 0) return held;
  return 0;
}

/** Workgroups of `runRows` for one part of the keys. */
export function rowGroups({ queries, heads }: AttentionSizes, held: number): number {
  return Math.ceil(queries / TOKENS) * (heads / held);
}

/** Forward attention in f32 of small heads, for GPUs: a thread holds `held` heads of one token. Buffers and `parts`: as `runShared`'s. */
export function runRows(
  commands: Commands,
  held: number,
  buffers: readonly GpuTensor[],
  sizes: AttentionSizes,
  work: number,
  parts: readonly [number, number],
): void {
  const { queries, keys, heads, groups, size } = sizes;
  commands.dispatch({
    kernel: {
      source: rowsForward,
      entry: "attention_rows_forward",
      buffers: BUFFERS.forward,
      constants: { D4: size / 4, HELD: held },
    },
    buffers,
    groups: rowGroups(sizes, held) * parts[0],
    uints: [queries, keys, heads, groups, ...parts],
    floats: [1 / Math.sqrt(size)],
    work,
  });
}
