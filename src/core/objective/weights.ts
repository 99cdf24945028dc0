/**
 * w_{e,t,i} = 1/(N·L_e) (appendix, "Training configuration"): the loss averages over the response tokens of an
 * episode, then equally over episodes. N is the number of episodes of the batch, L_e the response tokens of episode e
 * over all its decisions in the batch.
 *
 * @param items one entry a decision: its episode's id and its number of response tokens
 * @returns [decisions], the weight of every token of that decision; 0 for an episode without any response token,
 *   which still counts in N
 */
export function episodeWeights(items: readonly { episode: string; tokens: number }[]): Float64Array {
  const tokensOf = new Map<string, number>();
  for (const { episode, tokens } of items) tokensOf.set(episode, (tokensOf.get(episode) ?? 0) + tokens);
  const episodes = tokensOf.size;
  return Float64Array.from(items, ({ episode }) => {
    const tokens = tokensOf.get(episode)!;
    return tokens === 0 ? 0 : 1 / (episodes * tokens);
  });
}
