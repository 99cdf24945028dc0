/** Episodes of a batch that are not part of its update. */
import type { Episode } from "../record/schema.ts";
import { brokeOff } from "../record/standing.ts";
import { isReplayed } from "./references.ts";

/** Whether a replayed prefix left the student no turn, although nothing broke off. */
export const hadNoTurn = (episode: Episode): boolean =>
  !brokeOff(episode) && episode.decisions.length > 0 && episode.decisions.every(isReplayed);

/** Why an episode is not part of the update; null where nobody knows. */
function leftOutReason(episode: Episode): string | null {
  if (hadNoTurn(episode)) return "the replayed reference left the student no turn";
  const { technical_reason: reason } = episode.outcome;
  return typeof reason === "string" ? reason : null;
}

/** Why no batch of a run had an episode to learn from. */
export function noStepReason({
  batches,
  technical,
  noTurn,
}: {
  batches: number;
  technical: number;
  noTurn: number;
}) {
  const all = batches === 1 ? "the only batch" : `all ${batches} batches`;
  if (noTurn === 0) return `every episode of ${all} ended for technical reasons`;
  const others = technical === 0 ? "" : `; ${technical} ended for technical reasons`;
  return (
    `no episode of ${batches === 1 ? all : `the ${batches} batches`} left anything to train on: ` +
    `the replayed reference left the student no turn in ${noTurn}${others}`
  );
}

/** Those that were left out, as an `excluded` event reports them. */
export const excludedEpisodes = (left: readonly Episode[]) =>
  left.map((each) => ({
    episode: each.episode,
    reason: leftOutReason(each),
    ...(hadNoTurn(each) ? ({ noTurn: true } as const) : {}),
  }));
