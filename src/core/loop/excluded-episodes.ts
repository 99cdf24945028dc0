/** Episodes of a batch that are not part of its update. */
import type { Episode } from "../record/schema.ts";
import { brokeOff } from "../record/standing.ts";
import { isReplayed } from "./references.ts";

/** Whether the student had no turn: a replayed prefix left it none, or nothing was recorded. */
export const hadNoTurn = (episode: Episode): boolean => episode.decisions.every(isReplayed);

/** Why an episode is not part of the update; null where nobody knows. */
function leftOutReason(episode: Episode): string | null {
  if (brokeOff(episode)) {
    const { technical_reason: reason } = episode.outcome;
    return typeof reason === "string" ? reason : null;
  }
  if (episode.decisions.length === 0) return "it has no decision";
  return hadNoTurn(episode)
    ? "the replayed reference left the student no turn"
    : "no response of the batch has a token";
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
  const others = technical === 0 ? "" : `, ${technical} ended for technical reasons`;
  return (
    `no episode of ${batches === 1 ? all : `the ${batches} batches`} left anything to train on: ` +
    `in ${noTurn} the student had no turn or said nothing${others}`
  );
}

/** Those that were left out, as an `excluded` event reports them. */
export const excludedEpisodes = (left: readonly Episode[]) =>
  left.map((each) => ({
    episode: each.episode,
    reason: leftOutReason(each),
    ...(brokeOff(each) ? {} : ({ noTurn: true } as const)),
  }));
