/** The clipped policy-gradient surrogate of Eq. (9) and its derivative in log p_θ, a token at a time and in f64. */
import type { TrainItem } from "../ports.ts";
import { advantage } from "./feedback.ts";

/** ρ = p_θ / p_old = exp(log p_θ − log p_old), defined with Eq. (9). Infinite when the difference overflows. */
export function policyRatio(currentLogprob: number, rolloutLogprob: number): number {
  return Math.exp(currentLogprob - rolloutLogprob);
}

export interface SurrogateToken {
  /** min{ρA, clip(ρ, 1−ε, 1+ε)A} */
  objective: number;
  /** ∂objective/∂log p_θ: ρA, or 0 where the clipped branch was taken. A is a constant (stop-gradient). */
  slope: number;
  /** The clipped term is strictly the smaller one. */
  clipped: boolean;
}

/**
 * One token of Eq. (9). Where both terms are equal the slope is ρA: inside the interval, its ends included, both
 * branches have that derivative (torch.min gives each half of it); with A = 0 it is 0 on either branch.
 *
 * @param clip the clipping radius ε
 */
export function clippedSurrogate(ratio: number, tokenAdvantage: number, clip: number): SurrogateToken {
  if (tokenAdvantage === 0) return { objective: 0, slope: 0, clipped: false };
  const free = ratio * tokenAdvantage;
  const bounded = Math.min(Math.max(ratio, 1 - clip), 1 + clip) * tokenAdvantage;
  return bounded < free
    ? { objective: bounded, slope: 0, clipped: true }
    : { objective: free, slope: free, clipped: false };
}

/** What one response contributes to Eq. (9). Arrays are [response tokens]. */
export interface ResponseObjective {
  ratio: Float64Array;
  /** A^R of Eq. (8), from the current actor; with the terms of `AdvantageTerms` where there are some. */
  advantage: Float64Array;
  objective: Float64Array;
  /** 1 where the clipped branch was taken. */
  clipped: Uint8Array;
  /** ∂L/∂log p_θ = −w · slope: what the model's backward pass starts from. */
  coefficients: Float64Array;
  /** −w Σ_i objective_i: the response's part of the loss. */
  loss: number;
}

/** How a response's advantage differs from Eq. (8). */
export type AdvantageTerms = Pick<TrainItem, "teacherScale" | "rewardAdvantage">;

/** The same, with the tokens that are left out of the loss: their advantage is 0. */
export type ObjectiveTerms = AdvantageTerms & Pick<TrainItem, "masked">;

/**
 * A = c·A^R + r: the teacher's signal of Eq. (8) and what the task's reward adds. Without terms it is Eq. (8).
 *
 * @param teacher log q^R; null gives no teacher's signal
 * @throws RangeError when the lengths differ
 */
export function mixedAdvantage(
  teacher: ArrayLike<number> | null,
  current: ArrayLike<number>,
  { teacherScale = 1, rewardAdvantage = 0 }: AdvantageTerms = {},
): Float64Array {
  if (teacher === null) return new Float64Array(current.length).fill(rewardAdvantage);
  const signal = advantage(teacher, current);
  if (teacherScale === 1 && rewardAdvantage === 0) return signal;
  return signal.map((token) => teacherScale * token + rewardAdvantage);
}

/**
 * Eq. (9) over one response, with a constant token weight.
 *
 * @param current log p_θ, the current actor
 * @param teacher log q^R; null where no teacher was asked
 * @param rollout log p_old
 * @param weight w = 1/(N·L_e)
 * @param clip ε
 * @param terms of the advantage, and which tokens are left out
 * @throws RangeError when the lengths differ
 */
export function responseObjective(
  current: ArrayLike<number>,
  teacher: ArrayLike<number> | null,
  rollout: ArrayLike<number>,
  weight: number,
  clip: number,
  terms: ObjectiveTerms = {},
): ResponseObjective {
  const n = current.length;
  if (rollout.length !== n)
    throw new RangeError(`${rollout.length} rollout log-probabilities for ${n} tokens`);
  const result: ResponseObjective = {
    ratio: new Float64Array(n),
    advantage: mixedAdvantage(teacher, current, terms),
    objective: new Float64Array(n),
    clipped: new Uint8Array(n),
    coefficients: new Float64Array(n),
    loss: 0,
  };
  let sum = 0;
  for (let i = 0; i < n; i += 1) {
    const ratio = policyRatio(current[i]!, rollout[i]!);
    if (terms.masked?.[i] === 1) result.advantage[i] = 0;
    const token = clippedSurrogate(ratio, result.advantage[i]!, clip);
    result.ratio[i] = ratio;
    result.objective[i] = token.objective;
    result.clipped[i] = token.clipped ? 1 : 0;
    result.coefficients[i] = -weight * token.slope;
    sum += token.objective;
  }
  // −0 reads as a defect in reports.
  result.loss = sum === 0 ? 0 : -weight * sum;
  return result;
}
