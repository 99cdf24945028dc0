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

  function run(
    source: string,
    entry: string,
    letters: string,
    buffers: GpuTensor[],
    sizes: AttentionSizes,
    { rows, members = 1 }: Shares,
    threads: number,
    work: number,
    parts: readonly number[] = [],
  ): void {
    const { queries, keys, heads, groups, size } = sizes;
    const teams = members > 1 ? 1 : 0;
    const constants = {
      GROUP: group,
      R: rows,
      D4: size / 4,
      MEMBERS: members,
      LOADS: 4 / members,
      TEAMS: teams,
      ALONE: 1 - teams,
    };
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
        attendToCache(context, { sizes, ...keys, most: keys.most, x: q, k, v, o, lse });
        return { o, lse };
      }
      if (k.dtype === "f16") throw new Error("attention: the kernels for many rows read keys in f32 alone");
      const ranges = packRanges(keys);
      const matrices = chosen.forward ?? matrixTiles(context, "forward", sizes);
      const byTiles = context.matmul !== "tile" && queries >= FEWEST_TILE_ROWS;
      const held = byTiles ? heldHeads(sizes) : 0;
      const tileGroups = held > 0 ? rowGroups(sizes, held) : Math.ceil(queries / SHARED_ROWS) * heads;
      // Rows of decoding are of as many sequences, and see no key together.
      const shares = keys.most === undefined ? forwardShares(context, sizes) : { rows: 1, members: 1 };
      const threads = threadsFor(queries, shares) * heads;
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
        run(forward, "attention_forward", "rrrrww", buffers, sizes, shares, threads * cut[0], work, cut);
      };
      if (parts < 2) attend(o, lse, [1, sizes.keys]);
      else {
        const part = Math.ceil(seen / parts / 32) * 32;
        const partO = memory.allocate([parts, queries, heads, size], "f32");
        const partLse = memory.allocate([parts, queries, heads], "f32");
        attend(partO, partLse, [parts, part]);
        const merged = [partO, partLse, o, lse];
        const count = (queries * heads * size) / 4;
        run(forward, "attention_merge", "rrww", merged, sizes, shares, count, 12 * parts * count, [
          parts,
          part,
        ]);
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
      const shares = backwardShares(software, sizes);
      run(backward, "attention_stats", "rrwr", [o, lse, stats, dout], sizes, shares, pairs, 2 * pairs * size);
      const inputs = { q, k, v, dout, stats };
      const dqTiles = chosen.dq ?? matrixTiles(context, "dq", sizes);
      const dkvTiles = chosen.dkv ?? matrixTiles(context, "dkv", sizes);
      const forQuery = [q, k, v, dout, stats, ranges, dq];
      if (dqTiles) dqByMatrices(context, dqTiles, sizes, inputs, ranges, dq, 6 * work);
      else if (context.matmul !== "tile") runShared(commands, "dq", forQuery, sizes, 6 * work);
      else {
        const threads = threadsFor(queries, shares) * heads;
        run(backward, "attention_dq", "rrrrrrw", forQuery, sizes, shares, threads, 6 * work);
      }
      const forKey = [q, k, v, dout, stats, queryEnd, dk, dv];
      if (dkvTiles) dkvByMatrices(context, dkvTiles, sizes, inputs, queryEnd, dk, dv, 8 * work);
      else if (context.matmul !== "tile") runShared(commands, "dkv", forKey, sizes, 8 * work);
      else {
        const threads = threadsFor(sizes.keys, shares) * groups;
        run(backward, "attention_dkv", "rrrrrrww", forKey, sizes, shares, threads, 8 * work);
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

/** How the rows of a head are shared out. */
interface Shares {
  /** Neighbouring rows that a thread holds. */
  readonly rows: number;
  /** Threads that load for each other, 4 or 1. */
  readonly members?: number;
}

function threadsFor(rows: number, { rows: held, members = 1 }: Shares): number {
  return Math.ceil(rows / (held * members)) * members;
}

/**
 * As many rows as share a loaded key before registers overflow, by measurement. SwiftShader loads a value for each
 * thread by itself, even where all want the same. Teams of two rows per thread compile there in less than half the time
 * of single threads with four rows and are as fast with heads of 32, and 1.5 times as fast as two rows with heads of 64.
 */
function forwardShares({ software, features }: Context, { queries, size }: AttentionSizes): Shares {
  if (software && features.subgroups && queries >= 4) return { rows: size <= 64 ? 2 : 1, members: 4 };
  const most = software ? (size <= 32 ? 4 : size <= 64 ? 2 : 1) : size <= 32 ? 2 : 1;
  return { rows: Math.min(most, queries) };
}

/** On SwiftShader two rows per thread are 1.5 to 1.8 times as fast as one, and teams no faster. */
function backwardShares(software: boolean, { queries, size }: AttentionSizes): Shares {
  // With larger heads the kernel of two takes seconds to compile.
  return { rows: software && size <= 64 ? Math.min(2, queries) : 1 };
}
