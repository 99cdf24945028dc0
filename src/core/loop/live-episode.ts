/** One episode as it is played: its environment, the decisions so far, and how it ends. */
import { environmentRules } from "../environment/environment.ts";
import type { DecisionPrompt } from "../environment/prompt/chat.ts";
import type { ReplyPolicy, Sampling } from "../environment/protocol.ts";
import type {
  Environment,
  EnvironmentAnswer,
  EnvironmentStart,
  EnvironmentTurn,
  NoAnswer,
} from "../ports.ts";
import type { Attempt, Episode, EpisodeDecision, Outcome, State } from "../record/schema.ts";
import { foldWhiteSpace } from "../white-space.ts";
import { hasEnded, replay } from "./replay.ts";
import { NOT_STARTED, tryReset } from "./try-reset.ts";

/** An environment with everything between it and the model, for one episode. */
export interface OpenedTask {
  environment: Environment;
  /**
   * What the model reads before the next decision.
   *
   * @param turn what the environment shows now
   * @param history every decision before it
   */
  prompt(start: EnvironmentStart, turn: EnvironmentTurn, history: readonly EpisodeDecision[]): DecisionPrompt;
  /** What follows `turn` when a malformed response is a decision: it never reaches the environment. */
  malformed(turn: EnvironmentTurn): EnvironmentAnswer | NoAnswer;
}

/** One episode to play. */
export interface PlayTask {
  /** Id that the episode gets. */
  episode: string;
  environment: string;
  task: string;
  /** Decisions after which the episode ends (`horizon`). */
  maxDecisions: number;
  /** Longest response, in tokens. */
  maxTokens: number;
  sampling: Sampling;
  replies: ReplyPolicy;
  /** Text that a response's seed is made from. */
  seedText(place: { decision: number; attempt: number }): string;
  open(): Promise<OpenedTask>;
  /** Reads the action out of a response to `observation`; null when the response is malformed. */
  parse(response: string, observation: string): string | null;
  /** What was played of it before: it is played again, and the episode goes on. */
  begun?: Progress;
}

/** The decisions of an episode so far. */
export interface Progress {
  initialObservation: string;
  decisions: readonly EpisodeDecision[];
  /** [decisions + 1] replies that are not decisions, before each decision and, last, since. */
  attempts: readonly (readonly Attempt[])[];
  /** Where these do not replay, the episode has ended for a technical reason. It begins from its start when absent. */
  required?: boolean;
}

/** An episode that has ended. */
export interface Played {
  task: PlayTask;
  start: EnvironmentStart;
  /** The terminal visit. */
  turn: EnvironmentTurn;
  decisions: EpisodeDecision[];
  /** [decisions + 1] as in `Progress`. */
  attempts: Attempt[][];
  outcome: Outcome;
}

/** What happened in an episode: enough to go on with it later. */
export type PlayEvent =
  | { type: "start"; episode: string; initialObservation: string }
  | { type: "decision"; episode: string; decision: EpisodeDecision }
  | { type: "attempt"; episode: string; attempt: Attempt };

/** An episode that is being played. */
export interface LiveEpisode {
  task: PlayTask;
  opened: OpenedTask;
  start: EnvironmentStart;
  turn: EnvironmentTurn;
  decisions: EpisodeDecision[];
  attempts: Attempt[][];
  /** Why it is over; null while it goes on. */
  ended: End | null;
}

/** How an episode ended, with the reason where it is technical. */
export type End = Pick<Outcome, "ended" | "complete"> & { reason?: string };

/** The first turn, or the one after what was played before. */
export async function beginEpisode(
  { task, opened }: Pick<LiveEpisode, "task" | "opened">,
  onPlayed: (event: PlayEvent) => void = () => undefined,
): Promise<LiveEpisode> {
  const live = { task, opened, decisions: [], attempts: [[]] };
  const resumed = task.begun === undefined ? null : await resumeEpisode(task, opened, task.begun);
  if (resumed !== null && !("unanswered" in resumed)) return resumed;
  if (resumed !== null && task.begun?.required === true)
    return { ...live, start: NOT_STARTED, turn: NOT_STARTED, ended: unanswered(resumed) };
  const start = await tryReset(opened.environment, task.task);
  if ("unanswered" in start)
    return { ...live, start: NOT_STARTED, turn: NOT_STARTED, ended: unanswered(start) };
  onPlayed({ type: "start", episode: task.episode, initialObservation: start.observation });
  const started: LiveEpisode = { ...live, start, turn: start, ended: null };
  return { ...started, ended: endOf(started) };
}

/**
 * Plays the decisions that an episode has once more, and gives it as they leave it.
 *
 * @returns why they do not lead there again: the first difference, or that the environment does not answer
 */
export async function resumeEpisode(
  task: PlayTask,
  opened: OpenedTask,
  begun: Progress,
): Promise<LiveEpisode | NoAnswer> {
  const live: LiveEpisode = {
    task,
    opened,
    ...{ start: NOT_STARTED, turn: NOT_STARTED },
    decisions: [...begun.decisions],
    attempts: begun.attempts.map((made) => [...made]),
    ended: null,
  };
  const lost = await restore(live, begun.initialObservation);
  if (lost !== null) return lost;
  live.ended ??= usedUp(live) ?? endOf(live);
  return live;
}

/** Brings the environment to where the accepted decisions lead. @returns why it does not get there, or null */
async function restore(live: LiveEpisode, initialObservation: string): Promise<NoAnswer | null> {
  const { task, opened, decisions } = live;
  const again = await replay(
    opened.environment,
    { task: task.task, initialObservation, decisions },
    environmentRules(task.environment),
    { again: true },
  );
  if (again.differs !== null)
    return { unanswered: again.answered ? `the replay differs in ${again.differs}` : again.differs };
  live.start = again.start;
  live.turn = again.turn;
  if (decisions.at(-1)?.status === "malformed") takeMalformed(live);
  return null;
}

function takeMalformed(live: LiveEpisode): void {
  const next = live.opened.malformed(live.turn);
  if ("unanswered" in next) live.ended = unanswered(next);
  else live.turn = next;
}

/** What a model read and wrote for a decision; nothing of it where a person decides. */
export type Written = Partial<
  Pick<EpisodeDecision, "prompt" | "prompt_ids" | "response" | "response_ids" | "rollout_logprobs">
> & { prompt_cut?: number };

/**
 * Answers the present decision: the reply becomes a decision, or an attempt where its task draws such replies again.
 *
 * @param action null for a malformed response
 */
export async function reply(
  live: LiveEpisode,
  action: string | null,
  written: Written & Record<string, unknown> = {},
  onPlayed: (event: PlayEvent) => void = () => undefined,
): Promise<void> {
  const { task, opened, turn } = live;
  const { response } = written;
  const tried = (attempt: Attempt): void => {
    live.attempts.at(-1)!.push(attempt);
    live.ended = usedUp(live);
    onPlayed({ type: "attempt", episode: task.episode, attempt });
  };
  const next = action === null ? opened.malformed(turn) : await opened.environment.step(action);
  if ("unanswered" in next) {
    live.ended = unanswered(next);
    return;
  }
  if (action === null && task.replies.malformed === "resample") {
    tried({ action, reason: "format", feedback: next.feedback, response });
    return;
  }
  if (next.status === "rejected" && task.replies.rejected === "restore") {
    tried({ action, reason: "rejected", feedback: next.feedback, response });
    if (live.ended !== null) return;
    const lost = await restore(live, live.start.observation);
    if (lost !== null) live.ended = unanswered(lost);
    return;
  }
  const decision: EpisodeDecision = { ...takenDecision(turn, action, next), ...written };
  live.decisions.push(decision);
  live.attempts.push([]);
  live.turn = next;
  live.ended = endOf(live);
  onPlayed({ type: "decision", episode: task.episode, decision });
}

/** The end that the last turn, or the number of decisions, means; null where the episode goes on. */
function endOf({ turn, decisions, task }: Pick<LiveEpisode, "turn" | "decisions" | "task">): End | null {
  if (hasEnded(turn)) return { ended: "environment", complete: true };
  return decisions.length < task.maxDecisions ? null : { ended: "horizon", complete: true };
}

function usedUp({ task: { replies }, attempts }: LiveEpisode): End | null {
  const drawsAgain = replies.malformed === "resample" || replies.rejected === "restore";
  if (!drawsAgain || attempts.at(-1)!.length < replies.attempts) return null;
  return { ended: "technical", complete: replies.exhausted === "failed", reason: "validity_retry_exhausted" };
}

export const unanswered = ({ unanswered: reason }: NoAnswer): End => ({
  ended: "technical",
  complete: false,
  reason,
});

/** A decision as records write it: what was seen, done and answered. */
export function takenDecision(turn: EnvironmentTurn, action: string | null, next: EnvironmentAnswer) {
  return {
    observation: turn.observation,
    state: turn.state,
    action,
    binding: boundTo(turn.state, action),
    status: next.status,
    feedback: next.feedback,
    score: next.score,
    gap_before: false,
  };
}

/** What a menu choice stood for; null where no menu was open, or none of its options was taken. */
function boundTo(state: State | null, action: string | null): string | null {
  if (state === null || action === null || !Object.hasOwn(state.options, action)) return null;
  const meaning = foldWhiteSpace(state.options[action]!);
  return meaning === action || meaning === "" ? null : meaning;
}

/** An episode that has ended, or is given up. */
export function finished(
  { task, start, turn, decisions, attempts }: LiveEpisode,
  { ended, complete, reason }: End,
): Played {
  const outcome: Outcome = {
    complete,
    success: turn.success,
    score: turn.score,
    ended,
    verified: complete,
    ...(reason === undefined ? {} : { technical_reason: reason }),
  };
  return { task, start, turn, decisions, attempts, outcome };
}

/** A played episode as records write it. */
export function playedEpisode({ task, start, turn, decisions, outcome }: Played): Episode {
  return {
    format: "gcopd.episode.v1",
    environment: task.environment,
    task: task.task,
    episode: task.episode,
    task_description: start.description,
    initial_observation: start.observation,
    decisions,
    final_state: turn.state,
    outcome,
  };
}
