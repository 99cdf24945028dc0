/** A token drawn from logits [V] and its log-probability at temperature 1, whatever the temperature of the draw. */
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

/** The most probable token; the first of equals. */
export function drawGreedy(logits: Float32Array): Drawn {
  let id = 0;
  for (let i = 1; i < logits.length; i++) if (logits[i]! > logits[id]!) id = i;
  return { id, logprob: logits[id]! - logSumExp(logits, 1) };
}

/** The first token, in order of id, whose cumulative softmax(logits / temperature) exceeds u in [0, 1). */
export function drawSample(logits: Float32Array, temperature: number, u: number): Drawn {
  const scale = 1 / temperature;
  const sum = logSumExp(logits, scale);
  let cumulative = 0;
  let id = -1;
  for (let i = 0; i < logits.length; i++) {
    const probability = Math.exp(scale * logits[i]! - sum);
    cumulative += probability;
    // The last token of positive probability stands in where rounding leaves the total below u.
    if (probability > 0) id = i;
    if (cumulative > u) break;
  }
  return { id, logprob: logits[id]! - logSumExp(logits, 1) };
}
