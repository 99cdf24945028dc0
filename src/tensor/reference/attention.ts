import type { Backend } from "../backend.ts";
import { checkAttention, checkAttentionBackward } from "../shapes.ts";
import type { HostMemory, HostTensor } from "./memory.ts";

/** Dot product of two runs of `size` values. */
function dot(a: Float32Array, aAt: number, b: Float32Array, bAt: number, size: number): number {
  let s0 = 0;
  let s1 = 0;
  let i = 0;
  for (; i + 1 < size; i += 2) {
    s0 += a[aAt + i]! * b[bAt + i]!;
    s1 += a[aAt + i + 1]! * b[bAt + i + 1]!;
  }
  if (i < size) s0 += a[aAt + i]! * b[bAt + i]!;
  return s0 + s1;
}

/** out[outAt …] += factor · x[xAt …] */
function addScaled(
  out: Float32Array | Float64Array,
  outAt: number,
  x: Float32Array,
  xAt: number,
  factor: number,
  size: number,
): void {
  for (let i = 0; i < size; i++) out[outAt + i] = out[outAt + i]! + factor * x[xAt + i]!;
}

function checkRange(start: number, end: number, keys: number): void {
  if (start >= end || end > keys) throw new Error(`attention: keys ${start} … ${end} of ${keys}`);
}

export function attentionOperations(
  memory: HostMemory,
): Pick<Backend<HostTensor>, "attention" | "attentionBackward"> {
  return {
    attention(q, k, v, range) {
      const { queries, keys, heads, groups, size } = checkAttention("attention", q, k, v, range);
      const o = memory.zeros(q.shape);
      const lse = memory.zeros([queries, heads]);
      const [qs, ks, vs, out, sums] = [q.f32, k.f32, v.f32, o.f32, lse.f32];
      const [first, last] = [range.start.u32, range.end.u32];
      const scale = 1 / Math.sqrt(size);
      const scores = new Float64Array(keys);
      const row = new Float64Array(size);
      for (let t = 0; t < queries; t++) {
        const start = first[t]!;
        const end = last[t]!;
        checkRange(start, end, keys);
        for (let h = 0; h < heads; h++) {
          const group = Math.floor((h * groups) / heads);
          const at = (t * heads + h) * size;
          let max = -Infinity;
          for (let j = start; j < end; j++) {
            const score = scale * dot(qs, at, ks, (j * groups + group) * size, size);
            scores[j] = score;
            if (score > max) max = score;
          }
          let total = 0;
          row.fill(0);
          for (let j = start; j < end; j++) {
            const weight = Math.exp(scores[j]! - max);
            total += weight;
            addScaled(row, 0, vs, (j * groups + group) * size, weight, size);
          }
          for (let i = 0; i < size; i++) out[at + i] = row[i]! / total;
          sums[t * heads + h] = max + Math.log(total);
        }
      }
      return { o, lse };
    },

    // With P = exp(score − lse), D = dO·O: dV = Pᵀ dO, dS = P (dO·V − D), dQ = scale dS K, dK = scale dSᵀ Q.
    attentionBackward(dout, q, k, v, o, lse, range, queryEnd) {
      const { queries, keys, heads, groups, size } = checkAttentionBackward(
        dout,
        q,
        k,
        v,
        o,
        lse,
        range,
        queryEnd,
      );
      const dq = memory.zeros(q.shape);
      const dk = memory.zeros(k.shape);
      const dv = memory.zeros(v.shape);
      const [d, qs, ks, vs, os, sums] = [dout.f32, q.f32, k.f32, v.f32, o.f32, lse.f32];
      const [dqs, dks, dvs] = [dq.f32, dk.f32, dv.f32];
      const [first, last] = [range.start.u32, range.end.u32];
      const scale = 1 / Math.sqrt(size);
      for (let t = 0; t < queries; t++) {
        const start = first[t]!;
        const end = last[t]!;
        checkRange(start, end, keys);
        for (let h = 0; h < heads; h++) {
          const group = Math.floor((h * groups) / heads);
          const at = (t * heads + h) * size;
          const rowSum = dot(d, at, os, at, size);
          const logSum = sums[t * heads + h]!;
          for (let j = start; j < end; j++) {
            const key = (j * groups + group) * size;
            const weight = Math.exp(scale * dot(qs, at, ks, key, size) - logSum);
            const slope = scale * weight * (dot(d, at, vs, key, size) - rowSum);
            addScaled(dvs, key, d, at, weight, size);
            addScaled(dqs, at, ks, key, slope, size);
            addScaled(dks, key, qs, at, slope, size);
          }
        }
      }
      return { dq, dk, dv };
    },
  };
}
