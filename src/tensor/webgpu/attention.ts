import type { Backend } from "../backend.ts";
import { type AttentionSizes, checkAttention, checkAttentionBackward } from "../shapes.ts";
import backward from "./attention-backward.wgsl?raw";
import forward from "./attention-forward.wgsl?raw";
import { type Context, GROUP } from "./context.ts";
import type { GpuTensor } from "./memory.ts";

/** Keys that are worth a part of their own. */
const SHORTEST_PART = 64;

export function attentionOperations(
  context: Context,
): Pick<Backend<GpuTensor>, "attention" | "attentionBackward"> {
  const { memory, commands, software } = context;
  // A software adapter runs a workgroup a core at a time: small ones share the work out.
  const group = software ? 16 : GROUP;
  /** Threads below which the keys are cut into parts: a token's attention to a cache has one a head. */
  const enough = software ? 64 : 4096;

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
    commands.dispatch({
      kernel: { source, entry, buffers: letters, constants: { GROUP: group, R: rows, D4: size / 4 } },
      buffers,
      groups: Math.ceil(threads / group),
      uints: [queries, keys, heads, groups, ...parts],
      floats: [1 / Math.sqrt(size)],
      work,
    });
  }

  return {
    attention(q, k, v, keys) {
      const sizes = checkAttention("attention", q, k, v, keys);
      checkHeadSize(sizes.size);
      const { queries, heads, size } = sizes;
      const o = memory.allocate(q.shape, "f32");
      const lse = memory.allocate([queries, heads], "f32");
      const rows = Math.max(1, Math.min(rowsAThread(software, size, false), queries));
      const threads = Math.ceil(queries / rows) * heads;
      const work = 4 * size * heads * seenKeys(sizes);
      const seen = Math.min(keys.end.largest, sizes.keys);
      const parts = Math.min(Math.ceil(seen / SHORTEST_PART), Math.ceil(enough / Math.max(1, threads)));
      const attend = (to: GpuTensor, toLse: GpuTensor, cut: [number, number]) => {
        const buffers = [q, k, v, keys.start, keys.end, to, toLse];
        run(forward, "attention_forward", "rrrrrww", buffers, sizes, rows, threads * cut[0], work, cut);
      };
      if (parts < 2) attend(o, lse, [1, sizes.keys]);
      else {
        const part = Math.ceil(seen / parts / 4) * 4;
        const partO = memory.allocate([parts, queries, heads, size], "f32");
        const partLse = memory.allocate([parts, queries, heads], "f32");
        attend(partO, partLse, [parts, part]);
        const merged = [partO, partLse, o, lse];
        const count = (queries * heads * size) / 4;
        run(forward, "attention_merge", "rrww", merged, sizes, rows, count, 12 * parts * count, [
          parts,
          part,
        ]);
        memory.free(partO);
        memory.free(partLse);
      }
      return { o, lse };
    },

    attentionBackward(dout, q, k, v, o, lse, keys, queryEnd) {
      const sizes = checkAttentionBackward(dout, q, k, v, o, lse, keys, queryEnd);
      checkHeadSize(sizes.size);
      const { queries, heads, groups, size } = sizes;
      const dq = memory.allocate(q.shape, "f32");
      const dk = memory.allocate(k.shape, "f32");
      const dv = memory.allocate(v.shape, "f32");
      const stats = memory.allocate([queries, heads, 2], "f32");
      const work = heads * seenKeys(sizes) * size;
      const pairs = queries * heads;
      run(backward, "attention_stats", "rrwr", [o, lse, stats, dout], sizes, 1, pairs, 2 * pairs * size);
      const rows = Math.max(1, Math.min(rowsAThread(software, size, true), queries));
      const tiles = Math.ceil(queries / rows);
      const forQuery = [q, k, v, dout, stats, keys.start, keys.end, dq];
      run(backward, "attention_dq", "rrrrrrrw", forQuery, sizes, rows, tiles * heads, 6 * work);
      const forKey = [q, k, v, dout, stats, queryEnd, dk, dv];
      run(backward, "attention_dkv", "rrrrrrww", forKey, sizes, rows, tiles * groups, 8 * work);
      memory.free(stats);
      return { dq, dk, dv };
    },
  };
}

function checkHeadSize(size: number): void {
  if (size % 4 !== 0 || size === 0) throw new Error(`attention: head size ${size} is not a multiple of 4`);
}

/** How many (query, key) pairs there may be: half of all in a causal pack, all when few queries meet a cache. */
function seenKeys({ queries, keys }: AttentionSizes): number {
  return queries === keys ? (queries * (keys + 1)) / 2 : queries * keys;
}

/**
 * Query rows (key rows for dK and dV) a thread: as many as share a loaded row before registers overflow. On SwiftShader
 * by measurement: at head size 32, 4 rows run about twice as fast as 1, though they compile longer.
 */
function rowsAThread(software: boolean, size: number, backward: boolean): number {
  if (software) return size <= 32 ? 4 : size <= 64 && !backward ? 2 : 1;
  return size <= 32 && !backward ? 2 : 1;
}
