import type { Backend } from "../backend.ts";
import { checkHead, checkHeadBackward } from "../shapes.ts";
import { matrix, multiply, transposed } from "./matmul.ts";
import type { HostMemory, HostTensor } from "./memory.ts";

/** Rows whose logits exist at the same time. */
const ROWS = 32;

export function headOperations(
  memory: HostMemory,
): Pick<Backend<HostTensor>, "headLogprobs" | "headBackward"> {
  return {
    headLogprobs(h, w, targets) {
      const { rows, vocabulary } = checkHead("headLogprobs", h, w, targets);
      const logprobs = memory.zeros([rows]);
      const lse = memory.zeros([rows]);
      const target = targets.u32;
      for (const { from, count, logits } of logitTiles(h, w.f32, vocabulary)) {
        for (let r = 0; r < count; r++) {
          const id = target[from + r]!;
          if (id >= vocabulary) throw new Error(`headLogprobs: target ${id} of ${vocabulary}`);
          const row = logits.subarray(r * vocabulary, (r + 1) * vocabulary);
          const sum = logSumExp(row);
          lse.f32[from + r] = sum;
          logprobs.f32[from + r] = row[id]! - sum;
        }
      }
      return { logprobs, lse };
    },

    headBackward(dw, h, w, targets, lse, c) {
      const { vocabulary, width } = checkHeadBackward(dw, h, w, targets, lse, c);
      const dh = memory.zeros(h.shape);
      const [target, sums, coefficients] = [targets.u32, lse.f32, c.f32];
      const weights = w.f32;
      for (const { from, count, hidden, logits } of logitTiles(h, weights, vocabulary)) {
        for (let r = 0; r < count; r++) {
          const id = target[from + r]!;
          if (id >= vocabulary) throw new Error(`headBackward: target ${id} of ${vocabulary}`);
          const row = logits.subarray(r * vocabulary, (r + 1) * vocabulary);
          const sum = sums[from + r]!;
          const coefficient = coefficients[from + r]!;
          for (let i = 0; i < vocabulary; i++) row[i] = -coefficient * Math.exp(row[i]! - sum);
          row[id] = row[id]! + coefficient;
        }
        const dlogits = matrix(logits, vocabulary);
        const dhidden = matrix(dh.f32, width, from * width);
        multiply(dhidden, dlogits, matrix(weights, width), count, width, vocabulary, false);
        if (dw !== null)
          multiply(matrix(dw.f32, width), transposed(dlogits), hidden, vocabulary, width, count, true);
      }
      return dh;
    },
  };
}

/** x·wᵀ of at most `ROWS` rows at a time: the next tile overwrites the logits of the one before. */
export function* logitTiles(h: HostTensor, w: Float32Array, vocabulary: number) {
  const [rows, width] = h.shape as [number, number];
  const logits = new Float32Array(Math.min(ROWS, rows) * vocabulary);
  const weights = transposed(matrix(w, width));
  for (let from = 0; from < rows; from += ROWS) {
    const count = Math.min(ROWS, rows - from);
    const hidden = matrix(h.f32, width, from * width);
    multiply(matrix(logits, vocabulary), hidden, weights, count, vocabulary, width, false);
    yield { from, count, hidden, logits };
  }
}

/** Natural logarithm of Σ exp(x). */
export function logSumExp(x: Float32Array): number {
  let max = -Infinity;
  for (let i = 0; i < x.length; i++) if (x[i]! > max) max = x[i]!;
  let total = 0;
  for (let i = 0; i < x.length; i++) total += Math.exp(x[i]! - max);
  return max + Math.log(total);
}
