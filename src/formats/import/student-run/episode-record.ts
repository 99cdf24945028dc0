/** One student file as an episode of library format 1. */
import { InputError } from "../../../core/errors.ts";
import type { Episode, EpisodeDecision, Outcome } from "../../../core/record/schema.ts";
import { withoutTask } from "../alfworld/task-sentence.ts";
import {
  type AuthorsEnvironment,
  alfworldState,
  bindingOf,
  gapBefore,
  stateOf,
  statusOf,
} from "../decision-fields.ts";
import type { StudentEpisode } from "./schema.ts";

/** The files do not name their environment; task ids of the three look different. */
function environmentOf(gamefile: string, file: string): AuthorsEnvironment {
  if (gamefile.endsWith(".tw-pddl")) return "alfworld";
  if (/^goal\d+$/.test(gamefile)) return "webshop";
  if (/^[^|]+\|[^|]+\|[^|]+$/.test(gamefile)) return "scienceworld";
  throw new InputError(
    `expected a task of ScienceWorld ("boil|1|easy"), ALFWorld ("….tw-pddl") or WebShop ("goal17"), received ${JSON.stringify(gamefile)}`,
    { file, key: "gamefile" },
  );
}

function outcomeOf(episode: StudentEpisode): Outcome {
  const { final_outcome: outcome, steps } = episode;
  const complete = episode.technical_incomplete !== true;
  // A run that broke off has no outcome at all.
  const success = complete && (outcome?.won ?? episode.won ?? false);
  const ended = !complete
    ? "technical"
    : outcome?.done === true
      ? "environment"
      : outcome?.decision_limit_reached === true
        ? "horizon"
        : "technical";
  return {
    complete,
    success,
    score: episode.final_score ?? outcome?.score ?? steps.at(-1)?.score ?? null,
    ended,
    verified: false,
  };
}

/** The record. `InputError` when the task is of no known environment or lengths disagree. */
export function episodeRecord(id: string, episode: StudentEpisode, file: string): Episode {
  const environment = environmentOf(episode.gamefile, file);
  const locator = environment === "alfworld" ? alfworldState : stateOf;
  const { steps } = episode;
  const decisions = steps.map((step): EpisodeDecision => {
    const action = statusOf(step, step.action, null) === "malformed" ? null : step.action;
    const binding = bindingOf(action, step.semantic_action);
    return {
      observation: step.current_obs,
      state: locator(step.physical_state_before),
      action,
      binding,
      status: statusOf(step, action, binding),
      feedback: step.feedback ?? "",
      score: step.score ?? null,
      gap_before: gapBefore(step),
      ...kept({
        prompt: step.user_text,
        prompt_ids: step.prompt_ids,
        response: step.raw_output,
        response_ids: step.response_ids,
        rollout_logprobs: step.rollout_logprobs,
        graph_reference: step.graph_reference,
      }),
    };
  });
  const initial = episode.initial_obs ?? undefined;
  return {
    format: "gcopd.episode.v1",
    environment,
    task: episode.gamefile,
    episode: id,
    task_description: episode.task_description ?? "",
    initial_observation:
      initial === undefined
        ? (decisions[0]?.observation ?? "")
        : environment === "alfworld"
          ? withoutTask(initial)
          : initial,
    decisions,
    final_state: locator(steps.at(-1)?.physical_state_after),
    outcome: outcomeOf(episode),
    ...kept({
      repetition: episode.rep,
      policy_version: episode.policy_version,
      is_evaluation: episode.is_evaluation === true ? true : undefined,
      error: episode.error,
    }),
  };
}

/** Without the keys that have nothing. */
function kept<T extends object>(values: T): { [K in keyof T]?: NonNullable<T[K]> } {
  return Object.fromEntries(
    Object.entries(values).filter(([, value]) => value !== undefined && value !== null),
  ) as { [K in keyof T]?: NonNullable<T[K]> };
}
