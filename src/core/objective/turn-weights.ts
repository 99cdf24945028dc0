/** Weights of turns. A turn is one decision of an episode, with the tokens of its response. */

/** A response: the number of its decision, and its tokens. */
export interface TurnTokens {
  decision: number;
  tokens: number;
}

/**
 * TurnOPD (arXiv 2607.05804): (1 − l)/n + l/(T·n_t), between the mean over a batch's n tokens (l = 0) and the same for
 * each of its T turns (l = 1), where n_t tokens are of turn t over all episodes. A turn without tokens is none of the T.
 *
 * @returns [responses] the weight of each token of a response; 0 for one of no token. Over all tokens they sum to 1.
 */
export function turnBalancedWeights(responses: readonly TurnTokens[], balance: number): Float64Array {
  const ofTurn = new Map<number, number>();
  let all = 0;
  for (const { decision, tokens } of responses) {
    if (tokens === 0) continue;
    ofTurn.set(decision, (ofTurn.get(decision) ?? 0) + tokens);
    all += tokens;
  }
  return Float64Array.from(responses, ({ decision, tokens }) =>
    tokens === 0 ? 0 : (1 - balance) / all + balance / (ofTurn.size * ofTurn.get(decision)!),
  );
}

/** Mean over tokens of |log p − log q|: d_k of SOD (Eq. 6) and ATOD (Eq. 13). Each response has at least one token. */
export function turnDivergence(student: ArrayLike<number>, teacher: ArrayLike<number>): number {
  return meanOf(student, (logprob, i) => Math.abs(logprob - teacher[i]!));
}

/** Mean over tokens of −log p: h_k of ATOD (Eq. 14), an estimate of the student's entropy on its own samples. */
export function turnUncertainty(student: ArrayLike<number>): number {
  return meanOf(student, (logprob) => -logprob);
}

/**
 * SOD (arXiv 2605.07725): w_1 = 1, w_k = min(∏_{u<k} (d_u + ε)/(d_{u+1} + ε), 1 + δ). The product itself is not bounded.
 *
 * @param divergences [turns] d_k of one episode's turns, in their order
 */
export function stepDivergenceWeights(
  divergences: readonly number[],
  { epsilon, delta }: { epsilon: number; delta: number },
): number[] {
  let product = 1;
  return divergences.map((divergence, k) => {
    if (k === 0) return 1;
    product *= (divergences[k - 1]! + epsilon) / (divergence + epsilon);
    return Math.min(product, 1 + delta);
  });
}

/** Below this, the turns of an episode do not differ, and each one's share is a half. */
const SAME = 1e-8;

/**
 * ATOD's T-DUR (arXiv 2606.27814, Eq. 15 and 16): w_k = 1 − (1 − d̃_k)(1 − h̃_k), where d̃ and h̃ are divergence and
 * uncertainty between the least (0) and the most (1) of the episode.
 *
 * @param turns [turns] of one episode
 */
export function turnUtilityWeights(turns: readonly { divergence: number; uncertainty: number }[]): number[] {
  const divergence = between(turns.map((turn) => turn.divergence));
  const uncertainty = between(turns.map((turn) => turn.uncertainty));
  return turns.map((_, k) => 1 - (1 - divergence[k]!) * (1 - uncertainty[k]!));
}

function between(values: readonly number[]): number[] {
  const least = Math.min(...values);
  const range = Math.max(...values) - least;
  return values.map((value) => (range < SAME ? 0.5 : (value - least) / range));
}

function meanOf(values: ArrayLike<number>, term: (value: number, i: number) => number): number {
  let sum = 0;
  for (let i = 0; i < values.length; i += 1) sum += term(values[i]!, i);
  return sum / values.length;
}
