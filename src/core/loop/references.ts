/** References of tasks: planner and oracle records that a student is put behind. */
import { environmentRules } from "../environment/environment.ts";
import type { EpisodeDecision, Source, SourceDecision } from "../record/schema.ts";
import { isTrustedSuccess } from "../record/standing.ts";
import { sourceExclusion } from "../retrieval/admission.ts";
import { isAugmentation } from "../retrieval/selection.ts";
import type { Progress } from "./live-episode.ts";

/** A decision that was replayed from a reference before the student's first: it is history, and gives no loss. */
export const isReplayed = (decision: EpisodeDecision): boolean => decision.replayed === true;

/**
 * The action sequence that a task's student is put behind: the first successful planner or oracle record in the
 * library's order that the environment's library holds, verified, each of its actions executed and none of them missing.
 */
export function referenceOf(sources: readonly Source[]): Source | null {
  const whole = ({ status, gap_before: gap }: SourceDecision) =>
    (status === "executed" || status === "binding") && !gap;
  return (
    sources.find(
      (source) =>
        isAugmentation(source) &&
        isTrustedSuccess(source) &&
        sourceExclusion(source, environmentRules(source.environment)) === null &&
        source.decisions.every(whole),
    ) ?? null
  );
}

/** The beginning of an episode that repeats the first `actions` decisions of a record. */
export function replayedPrefix({ initial_observation, decisions }: Source, actions: number): Progress {
  return {
    initialObservation: initial_observation,
    decisions: decisions.slice(0, actions).map(
      ({ observation, state, action, binding, status, feedback, score, gap_before }): EpisodeDecision => ({
        ...{ observation, state, action, binding, status, feedback, score, gap_before },
        replayed: true,
      }),
    ),
    attempts: Array.from({ length: actions + 1 }, () => []),
    required: true,
  };
}
