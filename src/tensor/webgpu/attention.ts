import type { Backend } from "../backend.ts";
import { type AttentionSizes, checkAttention, checkAttentionBackward } from "../shapes.ts";
import type { KeyRange } from "../tensor.ts";
import backward from "./attention-backward.wgsl?raw";
import { attendToCache, isDecoding } from "./attention-decode.ts";
import forward from "./attention-forward.wgsl?raw";
import { attendByMatrices, dkvByMatrices, dqByMatrices, matrixTiles, rowsOf } from "./attention-matrix.ts";
import pack from "./attention-ranges.wgsl?raw";
import { heldHeads, rowGroups, runRows, runShared, SHARED_ROWS } from "./attention-shared.ts";
import { type Context, GROUP } from "./context.ts";
import type { GpuTensor } from "./memory.ts";
import type { MatrixPass, MatrixTiles } from "./tuning.ts";

/** Keys that are worth a part of their own. */
const SHORTEST_PART = 64;
const SHORTEST_MATRIX_PART = 512;
/** Workgroups of the matrix kernels that keep a large GPU busy. */
const ENOUGH_BLOCKS = 256;
/** The same for the kernels with f32 tiles, and query rows below which these would stand mostly empty. */
const ENOUGH_TILES = 1024;
const FEWEST_TILE_ROWS = 9;
/** Workgroups of the f32 kernel for small heads that keep a large GPU busy. */
const ENOUGH_ROW_GROUPS = 512;

/**
 * Operations of a kernel on a software adapter after which one with several rows per thread is worth compiling: by then
 * it would have saved what its compilation takes. At head size 32, 4 rows run 1.3 (forward) to 1.6 times (backward) as
 * fast as 1 and take 4 to 6 times as long to compile.
 */
const WORTH_COMPILING = 4e9;

/** @param chosen tiles of the matrix kernels instead of those that suit, for measurements */
export function attentionOperations(
  context: Context,
  chosen: Partial<Record<MatrixPass, MatrixTiles>> = {},
): Pick<Backend<GpuTensor>, "attention" | "attentionBackward"> {
  const { memory, commands, software } = context;
  // A software adapter runs one workgroup per core at a time: small ones share the work out.
  const group = software ? 16 : GROUP;
  /** Threads below which the keys are cut into parts: a token's attention to a cache has one per head. */
  const enough = software ? 64 : 4096;

  /** Operations by kernel so far. */
  const computed = new Map<string, number>();

  /** Rows per thread for so many operations more. Nothing but the time depends on them. */
  function rowsNow(entry: string, most: number, work: number): number {
    const before = computed.get(entry) ?? 0;
    computed.set(entry, before + work);
    return software && before < WORTH_COMPILING ? 1 : most;
  }

  function run(
    source: string,
    entry: string,
    letters: string,
    buffers: GpuTensor[],
    sizes: AttentionSizes,
    rows: number,
    threads: number,
    work: number,
    parts: readonly number[] = [],
  ): void {
    const { queries, keys, heads, groups, size } = sizes;
    const constants = { GROUP: group, R: rows, D4: size / 4 };
    commands.dispatch({
      kernel: { source, entry, buffers: letters, constants },
      buffers,
      groups: Math.ceil(threads / group),
      uints: [queries, keys, heads, groups, ...parts],
      floats: [1 / Math.sqrt(size)],
      work,
    });
  }

  /** The ranges as the kernels read them, [Tq, 4]; the caller frees it. */
  function packRanges({ start, end, prefixStart, prefixEnd }: KeyRange<GpuTensor>): GpuTensor {
    const ranges = memory.allocate([start.length, 4], "u32");
    const prefix = prefixStart && prefixEnd ? [prefixStart, prefixEnd] : [];
    const constants = { GROUP: group, PREFIX: prefix.length / 2 };
    const buffers = [ranges, start, end, ...prefix];
    commands.dispatch({
      kernel: {
        source: pack,
        entry: "attention_ranges",
        buffers: "wrrrr".slice(0, buffers.length),
        constants,
      },
      buffers,
      groups: Math.ceil(start.length / group),
      uints: [start.length],
      work: start.length,
    });
    return ranges;
  }

  return {
    attention(q, k, v, keys) {
      const sizes = checkAttention("attention", q, k, v, keys);
      checkHeadSize(sizes.size);
      const { queries, heads, size } = sizes;
      const o = memory.allocate(q.shape, "f32");
      const lse = memory.allocate([queries, heads], "f32");
      if (!software && keys.most !== undefined && isDecoding(keys, sizes)) {
        attendToCache(context, sizes, keys, keys.most, { q, k, v, o, lse });
        return { o, lse };
      }
      if (k.dtype === "f16") throw new Error("attention: the kernels for many rows read keys in f32 alone");
      const ranges = packRanges(keys);
      const matrices = chosen.forward ?? matrixTiles(context, "forward", sizes);
      const byTiles = context.matmul === "shared" && queries >= FEWEST_TILE_ROWS;
      const held = byTiles ? heldHeads(sizes) : 0;
      const tileGroups = held > 0 ? rowGroups(sizes, held) : Math.ceil(queries / SHARED_ROWS) * heads;
      // Rows of decoding are of as many sequences, and see no key together.
      const several = keys.most === undefined ? rowsAThread(software, size, false) : 1;
      const rows = Math.max(1, Math.min(several, queries));
      const threads = Math.ceil(queries / rows) * heads;
      const work = 4 * size * heads * (keys.pairs ?? causalPairs(sizes));
      // Where the ranges were last written on the device, the host does not know where they end.
      const seen = keys.most === undefined ? Math.min(keys.end.largest, sizes.keys) : sizes.keys;
      const parts = matrices
        ? Math.min(
            Math.ceil(seen / SHORTEST_MATRIX_PART),
            Math.ceil(ENOUGH_BLOCKS / (Math.ceil(queries / rowsOf(matrices)) * heads)),
          )
        : byTiles
          ? Math.min(
              Math.ceil(seen / SHORTEST_MATRIX_PART),
              Math.ceil((held > 0 ? ENOUGH_ROW_GROUPS : ENOUGH_TILES) / tileGroups),
            )
          : Math.min(Math.ceil(seen / SHORTEST_PART), Math.ceil(enough / Math.max(1, threads)));
      const attend = (to: GpuTensor, toLse: GpuTensor, cut: [number, number]) => {
        if (matrices) {
          attendByMatrices(context, matrices, sizes, { q, k, v, ranges, o: to, lse: toLse }, cut, work);
          return;
        }
        const buffers = [q, k, v, ranges, to, toLse];
        if (held > 0) {
          runRows(commands, held, buffers, sizes, work, cut);
          return;
        }
        if (byTiles) {
          runShared(commands, "forward", buffers, sizes, work, cut);
          return;
        }
        const now = rowsNow("attention_forward", rows, work);
        const count = Math.ceil(queries / now) * heads * cut[0];
        run(forward, "attention_forward", "rrrrww", buffers, sizes, now, count, work, cut);
      };
      if (parts < 2) attend(o, lse, [1, sizes.keys]);
      else {
        const part = Math.ceil(seen / parts / 32) * 32;
        const partO = memory.allocate([parts, queries, heads, size], "f32");
        const partLse = memory.allocate([parts, queries, heads], "f32");
        attend(partO, partLse, [parts, part]);
        const merged = [partO, partLse, o, lse];
        const count = (queries * heads * size) / 4;
        run(forward, "attention_merge", "rrww", merged, sizes, 1, count, 12 * parts * count, [parts, part]);
        memory.free(partO);
        memory.free(partLse);
      }
      memory.free(ranges);
      return { o, lse };
    },

    attentionBackward(dout, q, k, v, o, lse, keys, queryEnd) {
      const sizes = checkAttentionBackward(dout, q, k, v, o, lse, keys, queryEnd);
      checkHeadSize(sizes.size);
      const { queries, heads, groups, size } = sizes;
      const ranges = packRanges(keys);
      const dq = memory.allocate(q.shape, "f32");
      const dk = memory.allocate(k.shape, "f32");
      const dv = memory.allocate(v.shape, "f32");
      const stats = memory.allocate([queries, heads, 2], "f32");
      const work = heads * size * (keys.pairs ?? causalPairs(sizes));
      const pairs = queries * heads;
      run(backward, "attention_stats", "rrwr", [o, lse, stats, dout], sizes, 1, pairs, 2 * pairs * size);
      const most = Math.max(1, Math.min(rowsAThread(software, size, true), queries));
      const inputs = { q, k, v, dout, stats };
      const dqTiles = chosen.dq ?? matrixTiles(context, "dq", sizes);
      const dkvTiles = chosen.dkv ?? matrixTiles(context, "dkv", sizes);
      const forQuery = [q, k, v, dout, stats, ranges, dq];
      if (dqTiles) dqByMatrices(context, dqTiles, sizes, inputs, ranges, dq, 6 * work);
      else if (context.matmul === "shared") runShared(commands, "dq", forQuery, sizes, 6 * work);
      else {
        const rows = rowsNow("attention_dq", most, 6 * work);
        const threads = Math.ceil(queries / rows) * heads;
        run(backward, "attention_dq", "rrrrrrw", forQuery, sizes, rows, threads, 6 * work);
      }
      const forKey = [q, k, v, dout, stats, queryEnd, dk, dv];
      if (dkvTiles) dkvByMatrices(context, dkvTiles, sizes, inputs, queryEnd, dk, dv, 8 * work);
      else if (context.matmul === "shared") runShared(commands, "dkv", forKey, sizes, 8 * work);
      else {
        const rows = rowsNow("attention_dkv", most, 8 * work);
        const threads = Math.ceil(sizes.keys / rows) * groups;
        run(backward, "attention_dkv", "rrrrrrww", forKey, sizes, rows, threads, 8 * work);
      }
      memory.free(stats);
      memory.free(ranges);
      return { dq, dk, dv };
    },
  };
}

function checkHeadSize(size: number): void {
  if (size % 4 !== 0 || size === 0) throw new Error(`attention: head size ${size} is not a multiple of 4`);
}

/** How many (query, key) pairs there may be: half of all in a causal pack, all when few queries meet a cache. */
function causalPairs({ queries, keys }: AttentionSizes): number {
  return queries === keys ? (queries * (keys + 1)) / 2 : queries * keys;
}

/**
 * Query rows (key rows for dK and dV) per thread: as many as share a loaded row before registers overflow. On SwiftShader
 * by measurement.
 */
function rowsAThread(software: boolean, size: number, backward: boolean): number {
  if (software) return size <= 32 ? 4 : size <= 64 && !backward ? 2 : 1;
  return size <= 32 && !backward ? 2 : 1;
}
