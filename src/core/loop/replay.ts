/**
 * Recorded decisions executed again from a reset: to restore an environment after a rejected action, to go on with an
 * interrupted episode, and to verify a record. Each step must repeat what was recorded.
 */
import type { EnvironmentRules } from "../environment/rules.ts";
import type { Environment, EnvironmentAnswer, EnvironmentStart, EnvironmentTurn } from "../ports.ts";
import type { EpisodeDecision, SourceDecision, State } from "../record/schema.ts";
import { foldWhiteSpace } from "../white-space.ts";
import { RESET_TRIES, tryReset } from "./try-reset.ts";

/** What is executed again. */
export interface ReplayedRecord {
  task: string;
  initialObservation: string;
  decisions: readonly (EpisodeDecision | SourceDecision)[];
}

export type Replay =
  | { start: EnvironmentStart; turn: EnvironmentTurn; differs: null }
  /** The first difference, for people, or why the environment did not answer. */
  | { differs: string; answered: boolean };

/**
 * Resets the environment and executes the decisions. Malformed ones never reached it and are passed over; a recorded
 * number of a menu stands for the entry with the recorded text. An environment that does not answer is tried up to
 * `RESET_TRIES` times.
 *
 * @param again also tries again where the environment answers with something else
 * @returns the turn after the last decision, or the first difference from the record in observation, feedback, status,
 * score, locator or end
 */
export async function replay(
  environment: Environment,
  record: ReplayedRecord,
  rules: Pick<EnvironmentRules, "sameText">,
  { again = false } = {},
): Promise<Replay> {
  for (let tried = 1; ; tried += 1) {
    const result = await replayOnce(environment, record, rules);
    if (result.differs === null || tried >= RESET_TRIES || (result.answered && !again)) return result;
  }
}

async function replayOnce(
  environment: Environment,
  { task, initialObservation, decisions }: ReplayedRecord,
  { sameText }: Pick<EnvironmentRules, "sameText">,
): Promise<Replay> {
  const differing = (differs: string): Replay => ({ differs, answered: true });
  const start = await tryReset(environment, task, 1);
  if ("unanswered" in start) return { differs: start.unanswered, answered: false };
  if (!sameText(start.observation, initialObservation)) return differing("the first observation");
  let turn: EnvironmentTurn = start;
  for (const [t, recorded] of decisions.entries()) {
    const before = difference(t, [
      ["end", !hasEnded(turn)],
      ["state", sameKey(turn.state, recorded.state)],
      [
        "observation",
        t === 0 || !executed(decisions[t - 1]!) || sameText(turn.observation, recorded.observation),
      ],
    ]);
    if (before !== null) return differing(before);
    if (!executed(recorded)) continue;
    const chosen = rebound(turn.state, recorded);
    if ("problem" in chosen) return differing(`decision ${t}: ${chosen.problem}`);
    const answer = await environment.step(chosen.action);
    if ("unanswered" in answer) return { differs: `decision ${t}: ${answer.unanswered}`, answered: false };
    const after = difference(t, [
      ["status", sameStatus(answer, recorded)],
      ["feedback", sameText(answer.feedback, recorded.feedback)],
      ["score", answer.score === recorded.score],
    ]);
    if (after !== null) return differing(after);
    turn = answer;
  }
  return { start, turn, differs: null };
}

/** Whether the environment ended the episode with this turn: no decision follows. */
export function hasEnded({ done, success }: Pick<EnvironmentTurn, "done" | "success">): boolean {
  return done || success;
}

/** False for a malformed response, which no environment sees. */
function executed(
  decision: EpisodeDecision | SourceDecision,
): decision is EpisodeDecision & { action: string } {
  return decision.action !== null && decision.status !== "malformed";
}

function difference(t: number, checks: readonly (readonly [string, boolean])[]): string | null {
  const found = checks.find(([, same]) => !same);
  return found === undefined ? null : `decision ${t}: ${found[0]}`;
}

/** Locators can be compared where both were captured. */
export function sameKey(left: State | null, right: State | null): boolean {
  return left === null || right === null || left.key === right.key;
}

function sameStatus({ status }: EnvironmentAnswer, recorded: { status: string }): boolean {
  return (status === "rejected") === (recorded.status === "rejected");
}

/**
 * The action as this run's menu numbers it. Entries that read alike may stand for different objects, in another order in
 * each process: neither their numbers nor their texts tell which was chosen.
 */
function rebound(
  state: State | null,
  { action, binding }: { action: string; binding: string | null },
): { action: string } | { problem: string } {
  if (binding === null || state === null || state.mode === "normal") return { action };
  const [entry, ...more] = Object.entries(state.options).filter(
    ([, text]) => foldWhiteSpace(text) === binding,
  );
  const quoted = JSON.stringify(binding);
  if (entry === undefined) return { problem: `the menu has no entry ${quoted}` };
  if (more.length > 0)
    return { problem: `${more.length + 1} menu entries read ${quoted}: nothing tells which was chosen` };
  return { action: entry[0] };
}
