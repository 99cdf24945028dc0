/**
 * Reverse KL of next-token distributions: the loss of a token under the signals `top-k` and `full-vocabulary`, and its
 * derivative in the student's logits. Arithmetic is f64.
 */

/** The divergence of one token. */
export interface ReverseKl {
  /** KL(p ‖ q) = Σ_v p_v (log p_v − log q_v), in nats; never below 0 but for rounding. */
  kl: number;
  /** [entries] ∂KL/∂z_v = p_v (log p_v − log q_v − KL) for logits z of the student; they sum to 0. */
  slopes: Float64Array;
}

/**
 * The divergence of two distributions over the same tokens. Each is given by logits or log-probabilities up to a constant
 * of its own, and normalised over the tokens that are given. For the whole vocabulary that is Eq. "generalized JSD" of Agarwal et al.
 * (arXiv 2306.13649) at β = 1, which TRL's GKD trainer computes.
 *
 * @param student [entries] natural log
 * @param teacher [entries] natural log, a constant
 * @throws RangeError when the arrays differ in length
 */
export function reverseKl(student: ArrayLike<number>, teacher: ArrayLike<number>): ReverseKl {
  const n = student.length;
  if (teacher.length !== n) throw new RangeError(`${n} of the student against ${teacher.length}`);
  const [ownSum, teacherSum] = [logSumExp(student), logSumExp(teacher)];
  const slopes = new Float64Array(n);
  const shares = new Float64Array(n);
  let kl = 0;
  for (let v = 0; v < n; v += 1) {
    const logprob = student[v]! - ownSum;
    shares[v] = Math.exp(logprob);
    // p log p is 0 where p is, whatever the teacher says.
    slopes[v] = shares[v] === 0 ? 0 : shares[v]! * (logprob - (teacher[v]! - teacherSum));
    kl += slopes[v]!;
  }
  for (let v = 0; v < n; v += 1) slopes[v]! -= shares[v]! * kl;
  return { kl, slopes };
}

/**
 * Reverse KL over the teacher's most probable tokens, both distributions renormalised over them (Fu et al., arXiv
 * 2603.25562, Section 3). Tokens outside get no slope.
 *
 * @param student [vocabulary] logits or log-probabilities
 * @param ids [k] the teacher's most probable tokens, distinct
 * @param teacher [k] their log-probabilities
 * @returns slopes [vocabulary]
 */
export function topReverseKl(
  student: ArrayLike<number>,
  ids: ArrayLike<number>,
  teacher: ArrayLike<number>,
): ReverseKl {
  const support = Float64Array.from({ length: ids.length }, (_, i) => student[ids[i]!]!);
  const { kl, slopes: own } = reverseKl(support, teacher);
  const slopes = new Float64Array(student.length);
  for (const [i, slope] of own.entries()) slopes[ids[i]!] = slope;
  return { kl, slopes };
}

/** Natural logarithm of Σ exp(x). */
function logSumExp(x: ArrayLike<number>): number {
  let max = Number.NEGATIVE_INFINITY;
  for (let i = 0; i < x.length; i += 1) max = Math.max(max, x[i]!);
  let sum = 0;
  for (let i = 0; i < x.length; i += 1) sum += Math.exp(x[i]! - max);
  return max + Math.log(sum);
}
