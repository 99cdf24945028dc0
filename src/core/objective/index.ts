/** Section 3.4: feedback, advantage, weights and the clipped surrogate; beside it, divergences of distributions. */
export { type ReverseKl, reverseKl, topReverseKl } from "../reverse-kl.ts";
export { type ResponseDivergence, responseDivergence } from "./divergence.ts";
export { advantage, evidenceShift, opdFeedback } from "./feedback.ts";
export { groupAdvantages } from "./group-advantage.ts";
export {
  type AdvantageTerms,
  clippedSurrogate,
  mixedAdvantage,
  policyRatio,
  type ResponseObjective,
  responseObjective,
  type SurrogateToken,
} from "./surrogate.ts";
export {
  stepDivergenceWeights,
  turnBalancedWeights,
  turnDivergence,
  turnUncertainty,
  turnUtilityWeights,
} from "./turn-weights.ts";
export { episodeWeights } from "./weights.ts";
