/** What each part of the evidence does: to one token or word, to each, and to the whole response. */
import type { EvidencePart } from "../../../../core/evidence/index.ts";
import { withEvidence } from "../../../compute/side.ts";
import type { LeftOutScores, TokenScores } from "../../../compute/store.ts";
import { sumOf, type TokenRange } from "../units.ts";

export interface LeftOutRow {
  result: LeftOutScores;
  /** [response tokens] log p with all of the evidence − log p without the part: what the part adds. */
  effects: Float32Array;
  /** Σ effects. */
  sum: number;
}

/** What a part adds to some tokens; to the whole response where there are none. */
export function effectOn({ effects, sum }: LeftOutRow, range: TokenRange | null): number {
  return range === null ? sum : sumOf(effects, range);
}

/**
 * The records, or the events of one record, or of all, the largest |effect| first: on some tokens, or, without them, on
 * the whole response. Equal ones stay in the evidence's order.
 */
export function leftOutRows(
  scores: Pick<TokenScores, "sides" | "leftOut">,
  eventsOf: EvidencePart["record"] | "all" | null,
  range: TokenRange | null,
): LeftOutRow[] {
  const { logprobs } = withEvidence(scores);
  return scores.leftOut
    .filter(({ part }) =>
      eventsOf === null
        ? part.event === null
        : part.event !== null && (eventsOf === "all" || part.record === eventsOf),
    )
    .map((result): LeftOutRow => {
      const effects = Float32Array.from(result.logprobs, (value, i) => logprobs[i]! - value);
      return { result, effects, sum: effects.reduce((total, value) => total + value, 0) };
    })
    .sort((a, b) => Math.abs(effectOn(b, range)) - Math.abs(effectOn(a, range)));
}

export interface Explained {
  part: EvidencePart;
  /** In nats. */
  effect: number;
  /** As a share of Δ: 1.01 is 101 %. */
  share: number;
}

/** A change below this is noise, in nats: there is nothing to explain. */
const NOISE = 0.02;

/** A smaller share explains nothing. */
const LEAST_SHARE = 0.05;

/**
 * The part that does most of what all of the evidence does, where one does a share of it that is worth a name. Shares of several
 * parts need not add up to 1.
 *
 * @param delta log p with all of the evidence − log p without any
 */
export function explains(
  rows: readonly LeftOutRow[],
  range: TokenRange | null,
  delta: number,
): Explained | null {
  if (Math.abs(delta) < NOISE) return null;
  let best: Explained | null = null;
  for (const row of rows) {
    const effect = effectOn(row, range);
    const share = effect / delta;
    if (share >= LEAST_SHARE && share > (best?.share ?? 0)) best = { part: row.result.part, effect, share };
  }
  return best;
}

/** Positions of the tokens by |effect|, largest first. */
export function byEffect(effects: Float32Array): number[] {
  return Array.from(effects.keys()).sort((a, b) => Math.abs(effects[b]!) - Math.abs(effects[a]!));
}

/** What the computed passes cost. */
export function passesOf({ ids, leftOut }: Pick<TokenScores, "ids" | "leftOut">): {
  passes: number;
  tokens: number;
  seconds: number;
} {
  const computed = leftOut.filter(({ seconds }) => seconds !== null);
  return {
    passes: computed.length,
    tokens: computed.reduce((sum, { context }) => sum + context + ids.length, 0),
    seconds: computed.reduce((sum, { seconds }) => sum + (seconds ?? 0), 0),
  };
}
