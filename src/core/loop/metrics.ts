/** One step's figures, from the engine's report and the items it was given. All are of the student BEFORE the update. */
import type { StepReport, TrainItem } from "../ports.ts";

export interface StepMetrics {
  /** Eq. (9), or the mean KL Σ w·KL_t under another signal. */
  loss: number;
  /** Global L2 norm of the gradient, before clipping. */
  gradNorm: number;
  episodes: number;
  decisions: number;
  /** Response tokens. */
  tokens: number;
  /** Tokens that the student read: prompts and responses. */
  sequenceTokens: number;
  /** Share of tokens in [0, 1] whose clipped branch was taken. */
  clipFraction: number;
  /**
   * Mean of A over tokens, nats. Where A is the teacher's signal alone, its negative estimates KL(p_θ ‖ q^R) on the
   * student's own samples. Under a divergence it is the mean of −KL_t. Masked tokens count as 0.
   */
  meanAdvantage: number;
  /** Mean of |A| over tokens, nats. */
  meanAbsoluteAdvantage: number;
  /** Mean of log p_θ over tokens, nats. */
  meanLogprob: number;
  /** Mean of log q^R over tokens, nats; null where no teacher was asked. */
  meanTeacherLogprob: number | null;
  /** Σ w A log p_θ: what a step of Eq. (9) moves up while A is held; of no use under a divergence. */
  alignment: number;
  /** Mean of ρ − 1 − log ρ over tokens: an estimate of KL(p_old ‖ p_θ) that is never negative. Nats per token. */
  rolloutKl: number;
}

/** Totals over all tokens of a step. Means are 0 when there is no token. */
export function stepMetrics(items: readonly TrainItem[], report: StepReport): StepMetrics {
  let tokens = 0;
  let sequenceTokens = 0;
  let clipped = 0;
  let advantageSum = 0;
  let absoluteSum = 0;
  let logprobSum = 0;
  let teacherSum = 0;
  let alignment = 0;
  let kl = 0;
  report.items.forEach((item, n) => {
    const { weight, teacherLogprobs, promptIds, responseIds } = items[n]!;
    tokens += item.logprobs.length;
    sequenceTokens += promptIds.length + responseIds.length;
    for (let i = 0; i < item.logprobs.length; i += 1) {
      const logprob = item.logprobs[i]!;
      const tokenAdvantage = item.advantage[i]!;
      const ratio = item.ratio[i]!;
      clipped += item.clipped[i]!;
      advantageSum += tokenAdvantage;
      absoluteSum += Math.abs(tokenAdvantage);
      logprobSum += logprob;
      if (teacherLogprobs !== null) teacherSum += teacherLogprobs[i]!;
      alignment += weight * tokenAdvantage * logprob;
      kl += ratio - 1 - Math.log(ratio);
    }
  });
  const mean = (sum: number): number => (tokens === 0 ? 0 : sum / tokens);
  return {
    loss: report.loss,
    gradNorm: report.gradNorm,
    episodes: new Set(items.map((item) => item.episode)).size,
    decisions: items.length,
    tokens,
    sequenceTokens,
    clipFraction: mean(clipped),
    meanAdvantage: mean(advantageSum),
    meanAbsoluteAdvantage: mean(absoluteSum),
    meanLogprob: mean(logprobSum),
    meanTeacherLogprob: items.some(({ teacherLogprobs }) => teacherLogprobs === null)
      ? null
      : mean(teacherSum),
    alignment,
    rolloutKl: mean(kl),
  };
}
