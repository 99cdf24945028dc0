/** ε of the denominator. */
const EPSILON = 1e-6;

/**
 * GRPO's advantage of each rollout of one task: (r − mean)/(std + 10⁻⁶), the standard deviation with n − 1 as verl has
 * it. It is 0 where the rewards are all the same, and for a task with one rollout.
 *
 * @param rewards [rollouts]
 */
export function groupAdvantages(rewards: readonly number[]): number[] {
  const { length } = rewards;
  if (length < 2) return rewards.map(() => 0);
  const mean = rewards.reduce((sum, reward) => sum + reward, 0) / length;
  const squares = rewards.reduce((sum, reward) => sum + (reward - mean) ** 2, 0);
  const deviation = Math.sqrt(squares / (length - 1));
  return rewards.map((reward) => (reward - mean) / (deviation + EPSILON));
}
