/**
 * How deep TurnOPD (arXiv 2607.05804) lets episodes go, after accounts of its text. Depths are numbers of turns, from 0,
 * as there; a cut is after so many decisions and one more.
 */
import type { AdaptiveDepth } from "../method/method.ts";
import type { Episode } from "../record/schema.ts";
import type { ScoredRow } from "./bridge.ts";

/** One episode of a probe, which nothing cut but the horizon. */
export interface ProbedEpisode {
  success: boolean;
  /** [turns] Σ over tokens of log p − log q, and the number of the tokens. */
  turns: readonly { difference: number; tokens: number }[];
}

/** A probe is played every `probe` batches of its stage, the first one included. */
export const isProbe = ({ probe }: AdaptiveDepth, update: number): boolean => update % probe === 0;

/**
 * The moving average of max(H_eff, H_cov) after one more probe. H_eff = Σ t·q_t rounded, where q_t is proportional to
 * [K_t]_+ · n_t/n_0: K_t is the mean difference over the tokens of turn t, n_t of the n_0 episodes have such a turn.
 * H_cov is the quantile of the last turns of the successful episodes, of all where none succeeded.
 *
 * @param before the average so far; null before the first probe
 */
export function depthAfterProbe(
  { coverage, smoothing }: AdaptiveDepth,
  before: number | null,
  episodes: readonly ProbedEpisode[],
): number {
  const depth = Math.max(Math.round(effective(episodes)), covered(episodes, coverage));
  return before === null ? depth : (1 - smoothing) * before + smoothing * depth;
}

/** Decisions after which an episode is cut: the rounded average and one, between `least` and the horizon. */
export function cutAt({ least }: AdaptiveDepth, average: number | null, horizon: number): number {
  return average === null ? horizon : Math.min(horizon, Math.max(least, Math.round(average) + 1));
}

function effective(episodes: readonly ProbedEpisode[]): number {
  const longest = Math.max(0, ...episodes.map(({ turns }) => turns.length));
  let mass = 0;
  let moment = 0;
  for (let t = 0; t < longest; t += 1) {
    const reached = episodes.flatMap(({ turns }) => turns[t] ?? []);
    const tokens = reached.reduce((sum, turn) => sum + turn.tokens, 0);
    if (tokens === 0) continue;
    const divergence = reached.reduce((sum, turn) => sum + turn.difference, 0) / tokens;
    const share = (Math.max(0, divergence) * reached.length) / episodes.length;
    mass += share;
    moment += t * share;
  }
  return mass === 0 ? 0 : moment / mass;
}

function covered(episodes: readonly ProbedEpisode[], share: number): number {
  const successful = episodes.filter(({ success }) => success);
  const depths = (successful.length > 0 ? successful : episodes)
    .map(({ turns }) => Math.max(0, turns.length - 1))
    .sort((a, b) => a - b);
  const place = share * (depths.length - 1);
  const low = depths[Math.floor(place)] ?? 0;
  return low + (place - Math.floor(place)) * ((depths[Math.ceil(place)] ?? low) - low);
}

/** The episodes of a probe by their turns. */
export function probedEpisodes(episodes: readonly Episode[], rows: readonly ScoredRow[]): ProbedEpisode[] {
  return episodes.map((episode) => ({
    success: episode.outcome.success,
    turns: episode.decisions.map((_, t) => {
      const own = rows.find(({ row }) => row.episode === episode && row.decision === t);
      const tokens = own?.student.length ?? 0;
      let difference = 0;
      for (let i = 0; i < tokens; i += 1) difference += own!.student[i]! - own!.teacher[i]!;
      return { difference, tokens };
    }),
  }));
}
