/** What leaving out a part of the evidence did: to one token, to each, and to the whole response. */
import type { EvidencePart } from "../../../core/evidence/index.ts";
import type { LeftOutScores, TokenScores } from "../../state/store.ts";

export interface LeftOutRow {
  result: LeftOutScores;
  /** [response tokens] log p without the part − log p with all of the evidence. */
  changes: Float32Array;
  /** Σ changes. */
  sum: number;
}

/**
 * The records, or the events of one record, the largest |change| first: of the token at a position, or, without one,
 * of the whole response. Equal ones stay in the evidence's order.
 */
export function leftOutRows(
  { graph, leftOut }: Pick<TokenScores, "graph" | "leftOut">,
  eventsOf: EvidencePart["record"] | null,
  token: number | null,
): LeftOutRow[] {
  const size = (row: LeftOutRow): number => Math.abs(token === null ? row.sum : row.changes[token]!);
  return leftOut
    .filter(({ part }) =>
      eventsOf === null ? part.event === null : part.event !== null && part.record === eventsOf,
    )
    .map((result): LeftOutRow => {
      const changes = result.logprobs.map((value, i) => value - graph[i]!);
      return { result, changes, sum: changes.reduce((total, value) => total + value, 0) };
    })
    .sort((a, b) => size(b) - size(a));
}

/** Positions of the tokens by |change|, largest first. */
export function byChange(changes: Float32Array): number[] {
  return Array.from(changes.keys()).sort((a, b) => Math.abs(changes[b]!) - Math.abs(changes[a]!));
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
