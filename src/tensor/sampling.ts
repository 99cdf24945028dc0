import { InputError } from "../core/errors.ts";
import type { IdRange } from "../core/ports.ts";

/**
 * A token drawn from logits [V], and its log-probability over all V rows at temperature 1: neither the temperature of
 * the draw nor the ids that it was limited to change it.
 */
export interface Drawn {
  id: number;
  logprob: number;
}

/** log Σ exp over all logits. */
function logSumExp(logits: Float32Array, scale: number): number {
  let max = -Infinity;
  for (const logit of logits) if (logit > max) max = logit;
  let total = 0;
  for (const logit of logits) total += Math.exp(scale * (logit - max));
  return scale * max + Math.log(total);
}

/** The logits of the ids in `drawable`, -∞ for all others. */
function limitedTo(drawable: readonly IdRange[], logits: Float32Array): Float32Array {
  const limited = new Float32Array(logits.length).fill(-Infinity);
  for (const [from, to] of drawable) limited.set(logits.subarray(from, to), Math.min(from, logits.length));
  return limited;
}

/**
 * Sets the logits below the bounds to -∞: first all but the `topK` largest, then, of the softmax over what is left, all
 * but the fewest largest that come to `topP`. Equals of the last one that stays, stay.
 */
function keepMostProbable(logits: Float32Array, scale: number, { topK, topP }: DrawBounds): void {
  if (topK === undefined && topP === undefined) return;
  const sorted = logits.toSorted((a, b) => b - a);
  const kept = Math.min(topK ?? sorted.length, sorted.length);
  let least = sorted[kept - 1]!;
  if (topP !== undefined) {
    // Equals of the last one within `topK` count.
    const end = sorted.findLastIndex((logit) => logit >= least) + 1;
    const sum = logSumExp(sorted.subarray(0, end), scale);
    let share = 0;
    for (let i = 0; i < end && share < topP; i += 1) {
      least = sorted[i]!;
      share += Math.exp(scale * least - sum);
    }
  }
  for (let i = 0; i < logits.length; i += 1) if (logits[i]! < least) logits[i] = -Infinity;
}

/** The most probable token in `drawable`; the first of equals. */
export function drawGreedy(logits: Float32Array, drawable: readonly IdRange[]): Drawn {
  const limited = limitedTo(drawable, logits);
  let id = 0;
  for (let i = 1; i < limited.length; i++) if (limited[i]! > limited[id]!) id = i;
  return { id, logprob: limited[id]! - logSumExp(logits, 1) };
}

/** Which of the most probable tokens may be drawn; all where a bound is absent. See `SampleRequest`. */
export interface DrawBounds {
  topK?: number;
  topP?: number;
}

/** @throws InputError when a bound would leave nothing to draw */
export function checkBounds({ topK, topP }: DrawBounds): void {
  if (topK !== undefined && !(Number.isInteger(topK) && topK >= 1))
    throw new InputError(`top-k ${topK} is not a whole number from 1 on`);
  if (topP !== undefined && !(topP > 0 && topP <= 1))
    throw new InputError(`top-p ${topP} is not a number above 0 and at most 1`);
}

/**
 * The first token, in order of id, whose cumulative softmax(logits / temperature) over the ids in `drawable`, and within
 * the bounds, exceeds u in [0, 1).
 */
export function drawSample(
  logits: Float32Array,
  temperature: number,
  u: number,
  drawable: readonly IdRange[],
  bounds: DrawBounds = {},
): Drawn {
  const scale = 1 / temperature;
  const limited = limitedTo(drawable, logits);
  keepMostProbable(limited, scale, bounds);
  const sum = logSumExp(limited, scale);
  let cumulative = 0;
  let id = -1;
  for (let i = 0; i < limited.length; i++) {
    const probability = Math.exp(scale * limited[i]! - sum);
    cumulative += probability;
    // The last token of positive probability stands in where rounding leaves the total below u.
    if (probability > 0) id = i;
    if (cumulative > u) break;
  }
  return { id, logprob: limited[id]! - logSumExp(logits, 1) };
}
