/**
 * The teacher–student difference that is each token's feedback: without evidence Eq. (1), with evidence Eq. (8).
 * All arrays are [response tokens], natural log, at temperature 1; arithmetic is f64.
 */

/**
 * Eq. (1): Δ_{t,i} = log q_T(y_{t,i} | h_t, y_{t,<i}) − log p_θ(y_{t,i} | h_t, y_{t,<i}).
 *
 * @throws RangeError when the arrays differ in length.
 */
export function opdFeedback(
  teacherLogprobs: ArrayLike<number>,
  studentLogprobs: ArrayLike<number>,
): Float64Array {
  return difference(teacherLogprobs, studentLogprobs);
}

/**
 * Eq. (8): A^R_{t,i} = sg[log q^R_{t,i} − log p_θ(y_{t,i} | h_t, y_{t,<i})], with the CURRENT actor p_θ, not the
 * rollout policy. The stop-gradient sg is that the result is plain numbers: the derivative of Eq. (9) treats them as
 * constants. With the vanilla teacher context, R = ∅, this is Eq. (1).
 *
 * @throws RangeError when the arrays differ in length.
 */
export function advantage(
  teacherLogprobs: ArrayLike<number>,
  currentLogprobs: ArrayLike<number>,
): Float64Array {
  return difference(teacherLogprobs, currentLogprobs);
}

/**
 * Eq. (13): A^R − A^{R0} = sg[log q^R − log q^{R0}], how evidence moves the token signal; the student's term cancels.
 *
 * @throws RangeError when the arrays differ in length.
 */
export function evidenceShift(
  withEvidence: ArrayLike<number>,
  withoutEvidence: ArrayLike<number>,
): Float64Array {
  return difference(withEvidence, withoutEvidence);
}

function difference(a: ArrayLike<number>, b: ArrayLike<number>): Float64Array {
  if (a.length !== b.length) throw new RangeError(`${a.length} against ${b.length} log-probabilities`);
  return Float64Array.from({ length: a.length }, (_, i) => a[i]! - b[i]!);
}
