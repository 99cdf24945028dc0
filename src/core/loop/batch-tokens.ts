/** The tokens of one step as it saw them, for a person to look at: what each one pulled, and whether it was clipped. */
import type { StepReport, TrainItem } from "../ports.ts";

/** One decision of a step. Arrays are [response tokens]; log-probabilities in nats, of the student BEFORE the update. */
export interface DecisionTokens {
  episode: string;
  decision: number;
  /** Its response is a bridge, of the teacher; absent otherwise. */
  bridge?: true;
  /** The weight of each of its tokens, w = 1/(N·L_e) unless its stage weighs otherwise. */
  weight: number;
  ids: number[];
  /** log p_θ. */
  logprobs: Float32Array;
  /** log q^R, of the teacher; null where none was asked. */
  teacherLogprobs: Float32Array | null;
  /** ρ = p_θ / p_old. */
  ratio: Float32Array;
  /** A = log q^R − log p_θ, or what its stage makes of it; −KL of the token under a divergence. */
  advantage: Float32Array;
  /** 1 where the clipped branch was taken and the token gives no gradient. */
  clipped: Uint8Array;
}

export interface BatchTokens {
  /** Optimizer step, from 1. */
  step: number;
  decisions: DecisionTokens[];
}

/**
 * The tokens of a step, decision by decision: natural logarithms, ratios and advantages, a value for each response token.
 *
 * @param report of the same items in the same order
 */
export function batchTokens(step: number, items: readonly TrainItem[], report: StepReport): BatchTokens {
  return {
    step,
    decisions: report.items.map(({ episode, decision, logprobs, ratio, advantage, clipped }, n) => {
      const { bridge, weight, responseIds, teacherLogprobs } = items[n]!;
      return {
        episode,
        decision,
        ...(bridge ? { bridge } : {}),
        weight,
        ids: [...responseIds],
        logprobs,
        teacherLogprobs: teacherLogprobs === null ? null : Float32Array.from(teacherLogprobs),
        ratio,
        advantage,
        clipped,
      };
    }),
  };
}
