/** What could have stood in one place: the most probable tokens of both compared sides in one list. */
import { LISTED } from "../../compute/scoring/known-distribution.ts";
import { type Distribution, rankOf, type Side, tokenKey } from "../../compute/side.ts";

export interface Alternative {
  id: number;
  text: string;
  /** The token that the response has there. */
  own: boolean;
  base: Known;
  side: Known;
}

/** Natural log; `atMost`: nothing but the side's most probable tokens is known, and this one is not among them. */
export interface Known {
  logprob: number;
  atMost: boolean;
  /** Its place in the distribution, from 1; null beyond the known ones. */
  rank: number | null;
}

/** The union of both sides' most probable tokens and the token itself, the most probable on either side first. */
export function alternatives(base: Side, side: Side, position: number, text: string): Alternative[] {
  const [a, b] = [base.distribution!, side.distribution!];
  const own = side.ids![position]!;
  const ids = new Set([own]);
  for (const { top, topIds } of [a, b])
    for (const id of topIds.subarray(position * top, position * top + Math.min(LISTED, top))) ids.add(id);
  const known = (of: Side, distribution: Distribution, id: number): Known => {
    const { top, topLogprobs } = distribution;
    const rank = rankOf(distribution, position, id);
    if (id === own) return { logprob: of.logprobs[position]!, atMost: false, rank };
    const exact = distribution.further?.get(tokenKey(position, id));
    if (rank === null && exact !== undefined) return { logprob: exact, atMost: false, rank };
    return { logprob: topLogprobs[position * top + (rank ?? top) - 1]!, atMost: rank === null, rank };
  };
  return [...ids]
    .map(
      (id): Alternative => ({
        id,
        text: id === own ? text : (b.texts.get(id) ?? a.texts.get(id) ?? `id ${id}`),
        own: id === own,
        base: known(base, a, id),
        side: known(side, b, id),
      }),
    )
    .sort((x, y) => most(y) - most(x));
}

const most = ({ base, side }: Alternative): number => Math.max(base.logprob, side.logprob);
