/** The mean reverse KL of responses: the loss of a step under the signals `top-k` and `full-vocabulary`, in f64. */

/** What one response contributes to the mean KL. Arrays are [response tokens]. */
export interface ResponseDivergence {
  /** Σ w·KL_t over the tokens that count: the response's part of the loss. */
  loss: number;
  /** −KL_t in the place of an advantage: what a token falls short of the teacher; 0 for masked tokens. */
  advantage: Float64Array;
}

/**
 * The loss Σ w·KL_t over one response, under the same weights as Eq. (9): a mean over the tokens of an episode, then over
 * episodes. Masked tokens count in L_e and add nothing.
 *
 * @param kl KL_t of each token
 * @param weight w = 1/(N·L_e)
 * @param masked 1 where a token is left out
 */
export function responseDivergence(
  kl: ArrayLike<number>,
  weight: number,
  masked?: ArrayLike<number>,
): ResponseDivergence {
  // Not −0 of a token of no divergence, which reads as a defect in reports.
  const advantage = Float64Array.from(kl, (value, i) => (masked?.[i] === 1 ? 0 : 0 - value));
  return { loss: 0 - weight * advantage.reduce((sum, value) => sum + value, 0), advantage };
}
