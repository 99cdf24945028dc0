/** Source records (Section 3.2) from played episodes and from plans, verified by replay. */
import { environmentRules } from "../environment/environment.ts";
import type { Environment, EnvironmentTurn } from "../ports.ts";
import type { Episode, Source, SourceDecision } from "../record/schema.ts";
import { type Played, takenDecision } from "./live-episode.ts";
import { hasEnded, replay, sameKey } from "./replay.ts";
import { NOT_STARTED, tryReset } from "./try-reset.ts";

/** Name of a record among those of its task. */
export interface SourceName {
  source: string;
  repetition: number;
  origin: Source["origin"];
}

/** A played episode as a source, not yet verified. Prompts and responses stay out of it. */
export function playedSource(
  { task, start, turn, decisions, attempts, outcome }: Played,
  name: SourceName,
): Source {
  const last = attempts.at(-1) ?? [];
  return {
    format: "gcopd.source.v1",
    environment: task.environment,
    task: task.task,
    ...name,
    task_description: start.description,
    initial_observation: start.observation,
    decisions: decisions.map(
      ({ observation, state, action, binding, status, feedback, score, gap_before }, t): SourceDecision => ({
        ...{ observation, state, action, binding, status, feedback, score, gap_before },
        attempts: attempts[t] ?? [],
      }),
    ),
    final_state: turn.state,
    ...(last.length === 0 ? {} : { attempts_after_last: last }),
    outcome: { ...outcome, verified: false },
  };
}

/**
 * Executes a record once more from a reset: a source is verified when every text, score and locator, and its end, repeat.
 * An incomplete record stays unverified. What differs, or why the environment did not answer, is
 * recorded as `replay_difference`.
 */
export async function verified(source: Source, environment: Environment): Promise<Source> {
  const { outcome } = source;
  if (!outcome.complete) return source;
  const differs = await replayDifference(source, environment);
  if (differs === null) return { ...source, outcome: { ...outcome, verified: true } };
  return { ...source, outcome: { ...outcome, verified: false, replay_difference: differs } };
}

/**
 * The first difference between a record and its execution once more from a reset, or why the environment did not answer;
 * null where all repeats. The end of an incomplete record is not compared.
 */
export async function replayDifference(
  record: Source | Episode,
  environment: Environment,
): Promise<string | null> {
  const { decisions, initial_observation: initialObservation, task, outcome } = record;
  const rules = environmentRules(record.environment);
  const again = await replay(environment, { task, initialObservation, decisions }, rules);
  return again.differs ?? (outcome.complete ? endDifference(record, again.turn) : null);
}

function endDifference({ final_state, outcome }: Source | Episode, turn: EnvironmentTurn): string | null {
  const { state, success } = turn;
  if (!sameKey(state, final_state)) return "the final state";
  if (hasEnded(turn) !== (outcome.ended === "environment")) return "the end";
  return success === outcome.success ? null : "the outcome";
}

/**
 * A plan executed literally, until the task is won, the environment ends it, or the plan is at its end. Where the
 * environment cannot answer the record is incomplete and says why (`technical_reason`).
 *
 * @returns null where the environment's library takes no such record (`planDecisions`)
 */
export async function plannedSource(
  environment: Environment,
  { environment: name, task }: { environment: string; task: string },
  plan: readonly string[],
  as: SourceName,
): Promise<Source | null> {
  const { planDecisions } = environmentRules(name);
  const begun = await tryReset(environment, task);
  let unanswered = "unanswered" in begun ? begun.unanswered : null;
  const start = "unanswered" in begun ? NOT_STARTED : begun;
  const decisions: SourceDecision[] = [];
  let turn: EnvironmentTurn = start;
  for (const action of unanswered === null ? plan : []) {
    if (hasEnded(turn)) break;
    const next = await environment.step(action);
    if ("unanswered" in next) {
      unanswered = next.unanswered;
      break;
    }
    decisions.push({ ...takenDecision(turn, action, next), attempts: [] });
    turn = next;
  }
  const complete = unanswered === null;
  if (complete && planDecisions !== null && (!turn.success || decisions.length > planDecisions)) return null;
  const source: Source = {
    format: "gcopd.source.v1",
    environment: name,
    task,
    ...as,
    task_description: start.description,
    initial_observation: start.observation,
    decisions,
    final_state: turn.state,
    outcome: {
      complete,
      success: turn.success,
      score: turn.score,
      ended: !complete ? "technical" : hasEnded(turn) ? "environment" : "horizon",
      verified: false,
      ...(unanswered === null ? {} : { technical_reason: unanswered }),
    },
  };
  return verified(source, environment);
}
