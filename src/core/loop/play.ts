/** Episodes played by a model: all that run advance together, one response each at a time. */
import { environmentRules } from "../environment/environment.ts";
import type { DecisionPrompt } from "../environment/prompt/chat.ts";
import { PromptLimitError } from "../environment/prompt-limit.ts";
import type { ReplyPolicy, Sampling } from "../environment/protocol.ts";
import type {
  Environment,
  EnvironmentAnswer,
  EnvironmentStart,
  EnvironmentTurn,
  NoAnswer,
  SampleRequest,
  SampleResult,
  Sampler,
  WorkOptions,
} from "../ports.ts";
import type { Attempt, Episode, EpisodeDecision, Outcome, State } from "../record/schema.ts";
import { seedOf } from "../seeded.ts";
import { foldWhiteSpace } from "../white-space.ts";
import type { TextCodec } from "./codec.ts";
import { hasEnded, replay } from "./replay.ts";
import { NOT_STARTED, tryReset } from "./try-reset.ts";

/** An environment, and what stands between it and the model, for one episode. */
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
  /** What was played of it before an interruption; where it does not replay, the episode begins from its start. */
  begun?: Progress;
}

/** The decisions of an episode so far. */
export interface Progress {
  initialObservation: string;
  decisions: readonly EpisodeDecision[];
  /** [decisions + 1] replies that are no decision, before each decision and, last, since. */
  attempts: readonly (readonly Attempt[])[];
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

export interface PlayOptions extends WorkOptions {
  /** Episodes that run at the same time; all when absent. */
  atOnce?: number;
  /** Called with every start, decision and attempt, in order, before the next response is sampled. */
  onPlayed?: (event: PlayEvent) => void;
}

/** What happened in an episode: enough to go on with it later. */
export type PlayEvent =
  | { type: "start"; episode: string; initialObservation: string }
  | { type: "decision"; episode: string; decision: EpisodeDecision }
  | { type: "attempt"; episode: string; attempt: Attempt };

interface Live {
  task: PlayTask;
  opened: OpenedTask;
  start: EnvironmentStart;
  turn: EnvironmentTurn;
  decisions: EpisodeDecision[];
  attempts: Attempt[][];
  ended: End | null;
}

type End = Pick<Outcome, "ended" | "complete"> & { reason?: string };

/**
 * Plays every task. Each decision is recorded with its prompt, ids and log-probabilities. An episode ends when the
 * environment says so or the task is won, after `maxDecisions` (`horizon`), when its attempts are used up, when the
 * environment cannot answer or a prompt is over its limit (`technical`; the decision that could not be made is no part of
 * the record).
 *
 * @param onEnd called with each episode as it ends, in any order
 * @throws InputError for a task that an environment does not have
 */
export async function play(
  tasks: readonly PlayTask[],
  sampler: Sampler,
  codec: TextCodec,
  onEnd: (played: Played) => void | Promise<void>,
  options: PlayOptions = {},
): Promise<void> {
  const { atOnce = tasks.length, signal, onPlayed = () => undefined } = options;
  const open = new Set<Environment>();
  const running = new Set<Live>();
  let next = 0;
  try {
    while (true) {
      while (running.size < atOnce && next < tasks.length) {
        signal?.throwIfAborted();
        const task = tasks[next]!;
        next += 1;
        const opened = await task.open();
        open.add(opened.environment);
        running.add(await begin({ task, opened }, onPlayed));
      }
      const faults: unknown[] = [];
      for (const live of running) {
        if (live.ended === null) continue;
        running.delete(live);
        open.delete(live.opened.environment);
        // Closed first: `onEnd` may need the simulator that it holds. A fault of it does not lose the episode.
        await live.opened.environment.close().catch((error: unknown) => faults.push(error));
        await onEnd(finished(live, live.ended));
      }
      if (faults.length > 0) throw faults[0];
      if (running.size === 0 && next === tasks.length) return;
      if (running.size > 0) await advance([...running], sampler, codec, onPlayed, signal);
    }
  } finally {
    // Any still open are left from a fault, and that fault is the one to report.
    await Promise.allSettled([...open].map((environment) => environment.close()));
  }
}

/** The first turn, or the one after what was played before. */
async function begin(
  { task, opened }: Pick<Live, "task" | "opened">,
  onPlayed: (event: PlayEvent) => void,
): Promise<Live> {
  const resumed = await resume({ task, opened });
  if (resumed !== null) return resumed;
  const start = await tryReset(opened.environment, task.task);
  const live = { task, opened, decisions: [], attempts: [[]] };
  if ("unanswered" in start)
    return { ...live, start: NOT_STARTED, turn: NOT_STARTED, ended: unanswered(start) };
  onPlayed({ type: "start", episode: task.episode, initialObservation: start.observation });
  const started: Live = { ...live, start, turn: start, ended: null };
  return { ...started, ended: endOf(started) };
}

/** The episode as an interruption left it; null where nothing was begun, or what was does not replay. */
async function resume({ task, opened }: Pick<Live, "task" | "opened">): Promise<Live | null> {
  const { begun } = task;
  if (begun === undefined) return null;
  const live: Live = {
    task,
    opened,
    ...{ start: NOT_STARTED, turn: NOT_STARTED },
    decisions: [...begun.decisions],
    attempts: begun.attempts.map((made) => [...made]),
    ended: null,
  };
  if ((await restore(live, begun.initialObservation)) !== null) return null;
  live.ended ??= usedUp(live) ?? endOf(live);
  return live;
}

/** Brings the environment to where the accepted decisions lead. @returns why it does not get there, or null */
async function restore(live: Live, initialObservation: string): Promise<NoAnswer | null> {
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

function takeMalformed(live: Live): void {
  const next = live.opened.malformed(live.turn);
  if ("unanswered" in next) live.ended = unanswered(next);
  else live.turn = next;
}

/** One response for every running episode. */
async function advance(
  running: readonly Live[],
  sampler: Sampler,
  codec: TextCodec,
  onPlayed: (event: PlayEvent) => void,
  signal: AbortSignal | undefined,
): Promise<void> {
  const asked = running.flatMap((live) => {
    try {
      return [ask(live, codec)];
    } catch (error) {
      if (!(error instanceof PromptLimitError)) throw error;
      live.ended = unanswered({ unanswered: error.message });
      return [];
    }
  });
  if (asked.length === 0) return;
  const results = await sampler.sample(
    asked.map(({ request }) => request),
    { signal },
  );
  // Every step ends before a fault is thrown: none is under way when the environments are closed.
  const taken = await Promise.allSettled(asked.map((each, n) => take(each, results[n]!, codec, onPlayed)));
  for (const each of taken) if (each.status === "rejected") throw each.reason;
}

interface Asked {
  live: Live;
  request: SampleRequest;
  message: string;
  /** Tokens left out at the prompt's beginning. */
  cut: number;
}

function ask(live: Live, codec: TextCodec): Asked {
  const { task, opened, start, turn, decisions, attempts } = live;
  const decision = decisions.length;
  const { message, earlier } = opened.prompt(start, turn, decisions);
  const place = { episode: task.episode, decision };
  const { ids, cut } = codec.prompt({ prompt: message, earlier }, task.environment, place);
  const { temperature, topP, topK } = task.sampling;
  return {
    live,
    message,
    cut,
    request: {
      id: task.episode,
      promptIds: ids,
      maxTokens: task.maxTokens,
      temperature,
      ...(topP === 1 ? {} : { topP }),
      ...(topK === null ? {} : { topK }),
      seed: seedOf(task.seedText({ decision, attempt: attempts[decision]!.length })),
      stopIds: [codec.endOfTurnId],
      drawable: codec.drawable,
    },
  };
}

/** Makes a response a decision, or an attempt where its task draws such replies again. */
async function take(
  { live, request, message, cut }: Asked,
  { responseIds, logprobs, stop }: SampleResult,
  codec: TextCodec,
  onPlayed: (event: PlayEvent) => void,
): Promise<void> {
  const { task, opened, turn } = live;
  const text = codec.decode(stop === "stop" ? responseIds.slice(0, -1) : responseIds);
  const action = task.parse(text, turn.observation);
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
    tried({ action, reason: "format", feedback: next.feedback, response: text });
    return;
  }
  if (next.status === "rejected" && task.replies.rejected === "restore") {
    tried({ action, reason: "rejected", feedback: next.feedback, response: text });
    if (live.ended !== null) return;
    const lost = await restore(live, live.start.observation);
    if (lost !== null) live.ended = unanswered(lost);
    return;
  }
  const decision: EpisodeDecision = {
    observation: turn.observation,
    state: turn.state,
    action,
    binding: boundTo(turn.state, action),
    status: next.status,
    feedback: next.feedback,
    score: next.score,
    gap_before: false,
    prompt: message,
    prompt_ids: [...request.promptIds],
    ...(cut === 0 ? {} : { prompt_cut: cut }),
    response: text,
    response_ids: responseIds,
    rollout_logprobs: Array.from(logprobs),
  };
  live.decisions.push(decision);
  live.attempts.push([]);
  live.turn = next;
  live.ended = endOf(live);
  onPlayed({ type: "decision", episode: task.episode, decision });
}

/** The end that the last turn, or the number of decisions, means; null where the episode goes on. */
function endOf({ turn, decisions, task }: Pick<Live, "turn" | "decisions" | "task">): End | null {
  if (hasEnded(turn)) return { ended: "environment", complete: true };
  return decisions.length < task.maxDecisions ? null : { ended: "horizon", complete: true };
}

function usedUp({ task: { replies }, attempts }: Live): End | null {
  const drawsAgain = replies.malformed === "resample" || replies.rejected === "restore";
  if (!drawsAgain || attempts.at(-1)!.length < replies.attempts) return null;
  return { ended: "technical", complete: replies.exhausted === "failed", reason: "validity_retry_exhausted" };
}

const unanswered = ({ unanswered: reason }: NoAnswer): End => ({
  ended: "technical",
  complete: false,
  reason,
});

/** What a menu choice stood for; null where no menu was open, or none of its options was taken. */
function boundTo(state: State | null, action: string | null): string | null {
  if (state === null || action === null || !Object.hasOwn(state.options, action)) return null;
  const meaning = foldWhiteSpace(state.options[action]!);
  return meaning === action || meaning === "" ? null : meaning;
}

function finished(
  { task, start, turn, decisions, attempts }: Live,
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
