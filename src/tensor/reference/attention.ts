import type { Backend } from "../backend.ts";
import { type AttentionSizes, checkAttention, checkAttentionBackward } from "../shapes.ts";
import type { KeyRange } from "../tensor.ts";
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

/** The keys that query row t sees: from `from` on, before `to`, one or two pieces that do not overlap. */
interface Span {
  from: number;
  to: number;
}

/** @throws Error when a row sees no key, keys that are not there, or one key twice. */
function spansOf(keys: number, range: KeyRange<HostTensor>): (t: number) => Span[] {
  const [start, end] = [range.start.u32, range.end.u32];
  const [prefixStart, prefixEnd] = [range.prefixStart?.u32, range.prefixEnd?.u32];
  return (t) => {
    const own = { from: start[t]!, to: end[t]! };
    if (own.from >= own.to || own.to > keys)
      throw new Error(`attention: query ${t} has keys ${own.from} … ${own.to} of ${keys}`);
    const prefix = { from: prefixStart?.[t] ?? 0, to: prefixEnd?.[t] ?? 0 };
    if (prefix.from === prefix.to) return [own];
    if (prefix.from > prefix.to || prefix.to > own.from)
      throw new Error(
        `attention: query ${t} has prefix keys ${prefix.from} … ${prefix.to} and keys ${own.from} … ${own.to}`,
      );
    return [prefix, own];
  };
}

function* blocks(sizes: AttentionSizes, spans: (t: number) => Span[]): Generator<Block> {
  const { queries, keys, heads, groups } = sizes;
  for (let from = 0; from < queries; from += BLOCK) {
    const rows = Math.min(BLOCK, queries - from);
    let firstKey = keys;
    let endKey = 0;
    for (let t = from; t < from + rows; t++) {
      for (const { from: a, to: b } of spans(t)) {
        firstKey = Math.min(firstKey, a);
        endKey = Math.max(endKey, b);
      }
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
      const spans = spansOf(sizes.keys, range);
      const scale = 1 / Math.sqrt(size);
      const scratch = new Float32Array(Math.min(BLOCK, queries) * sizes.keys);
      for (const { head, group, from, rows, firstKey, keys } of blocks(sizes, spans)) {
        const weights = matrix(scratch, keys);
        const queryRows = headView(q, heads, head, size, from);
        const keyRows = headView(k, groups, group, size, firstKey);
        multiply(weights, queryRows, transposed(keyRows), rows, keys, size, false);
        for (let r = 0; r < rows; r++) {
          const row = scratch.subarray(r * keys, (r + 1) * keys);
          const sum = softmax(row, spans(from + r), firstKey, scale);
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
      const spans = spansOf(sizes.keys, range);
      const scale = 1 / Math.sqrt(size);
      const weightScratch = new Float32Array(Math.min(BLOCK, queries) * sizes.keys);
      const slopeScratch = new Float32Array(weightScratch.length);
      for (const { head, group, from, rows, firstKey, keys } of blocks(sizes, spans)) {
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
          const pieces = spans(t);
          for (let j = 0; j < keys; j++) {
            const to = r * keys + j;
            const seen = pieces.some((piece) => j + firstKey >= piece.from && j + firstKey < piece.to);
            const weight = seen ? Math.exp(scale * weightScratch[to]! - logSum) : 0;
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

/**
 * Turns the scores of keys firstKey … into weights that add up to 1 over the spans and are 0 elsewhere.
 * Returns log Σ exp(scale·score).
 */
function softmax(row: Float32Array, spans: readonly Span[], firstKey: number, scale: number): number {
  let max = -Infinity;
  for (const { from, to } of spans)
    for (let j = from - firstKey; j < to - firstKey; j++) if (row[j]! > max) max = row[j]!;
  let total = 0;
  let done = 0;
  for (const { from, to } of spans) {
    row.fill(0, done, from - firstKey);
    done = to - firstKey;
    for (let j = from - firstKey; j < done; j++) {
      const weight = Math.exp(scale * (row[j]! - max));
      row[j] = weight;
      total += weight;
    }
  }
  row.fill(0, done);
  for (let j = 0; j < done; j++) row[j] = row[j]! / total;
  return scale * max + Math.log(total);
}
