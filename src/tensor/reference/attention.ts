import type { Backend } from "../backend.ts";
import { type AttentionSizes, checkAttention, checkAttentionBackward } from "../shapes.ts";
import { type MatrixView, matrix, multiply, transposed } from "./matmul.ts";
import type { HostMemory, HostTensor } from "./memory.ts";

/** Query rows of one head that are worked on together. */
const BLOCK = 64;

/** Rows `from` … of one head of a tensor [T, heads, size]. */
function headView(t: HostTensor, heads: number, head: number, size: number, from: number): MatrixView {
  return { data: t.f32, offset: (from * heads + head) * size, row: heads * size, column: 1 };
}

/** A block of queries of one head, and all keys that any of them sees. */
interface Block {
  head: number;
  group: number;
  from: number;
  rows: number;
  firstKey: number;
  keys: number;
}

function* blocks(sizes: AttentionSizes, start: Uint32Array, end: Uint32Array): Generator<Block> {
  const { queries, keys, heads, groups } = sizes;
  for (let from = 0; from < queries; from += BLOCK) {
    const rows = Math.min(BLOCK, queries - from);
    let firstKey = keys;
    let endKey = 0;
    for (let t = from; t < from + rows; t++) {
      const [a, b] = [start[t]!, end[t]!];
      if (a >= b || b > keys) throw new Error(`attention: query ${t} has keys ${a} … ${b} of ${keys}`);
      firstKey = Math.min(firstKey, a);
      endKey = Math.max(endKey, b);
    }
    for (let head = 0; head < heads; head++)
      yield {
        head,
        group: Math.floor((head * groups) / heads),
        from,
        rows,
        firstKey,
        keys: endKey - firstKey,
      };
  }
}

export function attentionOperations(
  memory: HostMemory,
): Pick<Backend<HostTensor>, "attention" | "attentionBackward"> {
  return {
    attention(q, k, v, range) {
      const sizes = checkAttention("attention", q, k, v, range);
      const { queries, heads, groups, size } = sizes;
      const o = memory.zeros(q.shape);
      const lse = memory.zeros([queries, heads]);
      const [start, end] = [range.start.u32, range.end.u32];
      const scale = 1 / Math.sqrt(size);
      const scratch = new Float32Array(Math.min(BLOCK, queries) * sizes.keys);
      for (const { head, group, from, rows, firstKey, keys } of blocks(sizes, start, end)) {
        const weights = matrix(scratch, keys);
        const queryRows = headView(q, heads, head, size, from);
        const keyRows = headView(k, groups, group, size, firstKey);
        multiply(weights, queryRows, transposed(keyRows), rows, keys, size, false);
        for (let r = 0; r < rows; r++) {
          const row = scratch.subarray(r * keys, (r + 1) * keys);
          const sum = softmax(row, start[from + r]! - firstKey, end[from + r]! - firstKey, scale);
          lse.f32[(from + r) * heads + head] = sum;
        }
        const valueRows = headView(v, groups, group, size, firstKey);
        multiply(headView(o, heads, head, size, from), weights, valueRows, rows, size, keys, false);
      }
      return { o, lse };
    },

    // With P = exp(score − lse), D = rowsum(dO∘O): dV = Pᵀ dO, dS = P∘(dO Vᵀ − D), dQ = scale dS K, dK = scale dSᵀ Q.
    attentionBackward(dout, q, k, v, o, lse, range, queryEnd) {
      const sizes = checkAttentionBackward(dout, q, k, v, o, lse, range, queryEnd);
      const { queries, heads, groups, size } = sizes;
      const dq = memory.zeros(q.shape);
      const dk = memory.zeros(k.shape);
      const dv = memory.zeros(v.shape);
      const [start, end] = [range.start.u32, range.end.u32];
      const scale = 1 / Math.sqrt(size);
      const weightScratch = new Float32Array(Math.min(BLOCK, queries) * sizes.keys);
      const slopeScratch = new Float32Array(weightScratch.length);
      for (const { head, group, from, rows, firstKey, keys } of blocks(sizes, start, end)) {
        const weights = matrix(weightScratch, keys);
        const slopes = matrix(slopeScratch, keys);
        const queryRows = headView(q, heads, head, size, from);
        const outRows = headView(dout, heads, head, size, from);
        const keyRows = headView(k, groups, group, size, firstKey);
        const valueRows = headView(v, groups, group, size, firstKey);
        multiply(weights, queryRows, transposed(keyRows), rows, keys, size, false);
        multiply(slopes, outRows, transposed(valueRows), rows, keys, size, false);
        for (let r = 0; r < rows; r++) {
          const t = from + r;
          const at = (t * heads + head) * size;
          let rowSum = 0;
          for (let i = 0; i < size; i++) rowSum += dout.f32[at + i]! * o.f32[at + i]!;
          const logSum = lse.f32[t * heads + head]!;
          const [first, last] = [start[t]! - firstKey, end[t]! - firstKey];
          for (let j = 0; j < keys; j++) {
            const to = r * keys + j;
            const weight = j >= first && j < last ? Math.exp(scale * weightScratch[to]! - logSum) : 0;
            weightScratch[to] = weight;
            slopeScratch[to] = scale * weight * (slopeScratch[to]! - rowSum);
          }
        }
        const keyGradient = headView(dk, groups, group, size, firstKey);
        const valueGradient = headView(dv, groups, group, size, firstKey);
        multiply(valueGradient, transposed(weights), outRows, keys, size, rows, true);
        multiply(keyGradient, transposed(slopes), queryRows, keys, size, rows, true);
        multiply(headView(dq, heads, head, size, from), slopes, keyRows, rows, size, keys, false);
      }
      return { dq, dk, dv };
    },
  };
}

/** Turns scores into weights that add up to 1 over [first, last) and are 0 elsewhere. Returns log Σ exp(scale·score). */
function softmax(row: Float32Array, first: number, last: number, scale: number): number {
  let max = -Infinity;
  for (let j = first; j < last; j++) if (row[j]! > max) max = row[j]!;
  let total = 0;
  row.fill(0, 0, first);
  for (let j = first; j < last; j++) {
    const weight = Math.exp(scale * (row[j]! - max));
    row[j] = weight;
    total += weight;
  }
  for (let j = first; j < last; j++) row[j] = row[j]! / total;
  row.fill(0, last);
  return scale * max + Math.log(total);
}
