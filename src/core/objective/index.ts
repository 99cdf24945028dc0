/** Section 3.4: feedback, advantage, weights and the clipped surrogate. */
export { advantage, evidenceShift, opdFeedback } from "./feedback.ts";
export {
  type AdvantageTerms,
  clippedSurrogate,
  mixedAdvantage,
  policyRatio,
  type ResponseObjective,
  responseObjective,
  type SurrogateToken,
} from "./surrogate.ts";
export { episodeWeights } from "./weights.ts";
