/** The decisions of a batch with their exact ids: one row per decision (Algorithm 1, line 5). */
import { InputError } from "../errors.ts";
import { episodeWeights } from "../objective/weights.ts";
import type { Episode } from "../record/schema.ts";
import type { TextCodec } from "./codec.ts";
import { isReplayed } from "./references.ts";
import { recordedIds } from "./teacher-prompt.ts";

export interface Row {
  episode: Episode;
  decision: number;
  /** h_t: what the student reads. */
  promptIds: number[];
  /** Tokens that were left out at its beginning, here or when it was played. */
  cut: number;
  /** y_t, never empty. */
  responseIds: number[];
  /** log p_old, or null where the record carries none. */
  rolloutLogprobs: number[] | null;
  /** w = 1/(N·L_e). */
  weight: number;
}

/**
 * Every decision with at least one response token, malformed and rejected ones too. A response of no token has nothing
 * to score; its episode still counts in N. Decisions that were replayed are nobody's response.
 *
 * @throws InputError naming the episode and the decision that carries no prompt or no response
 */
export function batchRows(episodes: readonly Episode[], codec: TextCodec): Row[] {
  const all = episodes.flatMap((episode) =>
    episode.decisions.flatMap((decision, t): Row[] => {
      if (isReplayed(decision)) return [];
      const { prompt, responseIds } = recordedIds(episode, t, codec);
      const { ids: promptIds, cut } = prompt;
      const before = typeof decision.prompt_cut === "number" ? decision.prompt_cut : 0;
      const rolloutLogprobs = decision.rollout_logprobs ?? null;
      if (rolloutLogprobs !== null && rolloutLogprobs.length !== responseIds.length) {
        throw new InputError(
          `${rolloutLogprobs.length} log-probabilities for ${responseIds.length} response tokens`,
          { key: `episode ${JSON.stringify(episode.episode)}, decisions[${t}].rollout_logprobs` },
        );
      }
      return [
        { episode, decision: t, promptIds, cut: before + cut, responseIds, rolloutLogprobs, weight: 0 },
      ];
    }),
  );
  const weights = episodeWeights(
    all.map(({ episode, responseIds }) => ({ episode: episode.episode, tokens: responseIds.length })),
  );
  return all.flatMap((row, n) => (row.responseIds.length === 0 ? [] : [{ ...row, weight: weights[n]! }]));
}

/** How the batch's rollout policy p_old is known. */
export type RolloutPolicy =
  /** Every decision carries `rollout_logprobs`. */
  | "recorded"
  /** None does: p_old is the student at the start of the batch, so every ratio is 1. */
  | "current"
  /** Some do. */
  | "mixed";

export function rolloutPolicy(rows: readonly Row[]): RolloutPolicy {
  const recorded = rows.filter((row) => row.rolloutLogprobs !== null).length;
  return recorded === rows.length ? "recorded" : recorded === 0 ? "current" : "mixed";
}
