/** What a checkpoint says of its student's success rate, in percent. */
export function ratedEvaluation(rate: number) {
  const spread = { mean: rate, sd: null };
  return {
    ...{ tasks: 1, seeds: [0], sr: spread, score: null, rounds: spread, per_seed: [], per_type: {} },
    ...{ sr_interval: [0, 100] as const, pass_at_k: 0, score_at_k: null, technical: [], seconds: 1 },
  };
}
