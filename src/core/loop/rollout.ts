/** Fresh student episodes, p_old ← p_θ (Eq. (7)): all episodes of a batch advance together, one decision at a time. */
import type {
  Environment,
  EnvironmentAnswer,
  EnvironmentStart,
  EnvironmentTurn,
  NoAnswer,
  SampleRequest,
  Sampler,
  WorkOptions,
} from "../ports.ts";
import type { Episode, EpisodeDecision, State } from "../record/schema.ts";
import { seedOf } from "../seeded.ts";
import { foldWhiteSpace } from "../white-space.ts";
import type { TextCodec } from "./codec.ts";

/** An environment, and what stands between it and the student, for one episode. */
export interface OpenedTask {
  environment: Environment;
  /**
   * The user message of the next decision, the student's public context h_t.
   *
   * @param start of the episode
   * @param turn what the environment shows now
   * @param history every decision before it
   */
  prompt(start: EnvironmentStart, turn: EnvironmentTurn, history: readonly EpisodeDecision[]): string;
  /** What follows `turn` when the response is malformed: it costs a decision and never reaches the environment. */
  malformed(turn: EnvironmentTurn): EnvironmentAnswer | NoAnswer;
}

/** One task to roll out, with the environment that answers. */
export interface RolloutTask {
  /** Id that the new episode gets. */
  episode: string;
  environment: string;
  task: string;
  /** Decisions after which the episode ends (`horizon`). */
  maxDecisions: number;
  /** Longest response, in tokens. */
  maxTokens: number;
  open(): Promise<OpenedTask>;
  /** Reads the action out of a response to `observation`; null when the response is malformed. */
  parse(response: string, observation: string): string | null;
}

export interface RolloutSettings {
  temperature: number;
  /** Seed of the run, and the number of updates that the student has had: both enter each response's seed. */
  seed: number;
  policyVersion: number;
}

interface Live {
  task: RolloutTask;
  opened: OpenedTask;
  start: EnvironmentStart;
  turn: EnvironmentTurn;
  decisions: EpisodeDecision[];
  ended: "environment" | "horizon" | "technical" | null;
  /** Why the environment had no answer; null where it had. */
  unanswered: string | null;
}

/**
 * Samples one episode for each task. Each decision is recorded with its prompt, ids and log p_old. An episode ends
 * when the environment says so, after the task's `maxDecisions` (`horizon`), or when the environment cannot answer
 * (`technical`). Then the decision without an answer is no part of the record, which is marked incomplete and unverified and carries
 * the reason as `technical_reason` of its outcome.
 *
 * @returns episodes in the order of the tasks
 */
export async function rollout(
  tasks: readonly RolloutTask[],
  sampler: Sampler,
  codec: TextCodec,
  settings: RolloutSettings,
  options: WorkOptions = {},
): Promise<Episode[]> {
  const environments: Environment[] = [];
  const episodes: Live[] = [];
  try {
    for (const task of tasks) {
      const opened = await task.open();
      environments.push(opened.environment);
      const start = await opened.environment.reset(task.task);
      const ended = start.done ? "environment" : null;
      episodes.push({ task, opened, start, turn: start, decisions: [], ended, unanswered: null });
    }
    const most = Math.max(0, ...tasks.map(({ maxDecisions }) => maxDecisions));
    for (let decision = 0; decision < most; decision += 1) {
      const running = episodes.filter(({ ended, task }) => ended === null && decision < task.maxDecisions);
      if (running.length === 0) break;
      await advance(running, decision, sampler, codec, settings, options);
      options.onProgress?.({ done: decision + 1, total: most, unit: "decisions" });
    }
  } finally {
    for (const environment of environments) await environment.close();
  }
  return episodes.map(toEpisode);
}

/** One decision of every running episode. */
async function advance(
  running: readonly Live[],
  decision: number,
  sampler: Sampler,
  codec: TextCodec,
  settings: RolloutSettings,
  options: WorkOptions,
): Promise<void> {
  const requests: SampleRequest[] = [];
  const prompts: string[] = [];
  const cuts: number[] = [];
  for (const { task, opened, start, turn, decisions } of running) {
    const place = { episode: task.episode, decision };
    const prompt = opened.prompt(start, turn, decisions);
    const { ids: promptIds, cut } = codec.prompt({ prompt }, task.environment, place);
    prompts.push(prompt);
    cuts.push(cut);
    requests.push({
      id: task.episode,
      promptIds,
      maxTokens: task.maxTokens,
      temperature: settings.temperature,
      seed: seedOf(`${task.task}|${task.episode}|${decision}|${settings.policyVersion}|${settings.seed}`),
      stopIds: [codec.endOfTurnId],
      drawable: codec.drawable,
    });
  }
  const results = await sampler.sample(requests, { signal: options.signal });
  for (const [n, live] of running.entries()) {
    const { responseIds, logprobs, stop } = results[n]!;
    const text = codec.decode(stop === "stop" ? responseIds.slice(0, -1) : responseIds);
    const action = live.task.parse(text, live.turn.observation);
    const before = live.turn;
    const { environment, malformed } = live.opened;
    const next = action === null ? malformed(before) : await environment.step(action);
    if ("unanswered" in next) {
      live.ended = "technical";
      live.unanswered = next.unanswered;
      continue;
    }
    live.decisions.push({
      observation: before.observation,
      state: before.state,
      action,
      binding: boundTo(before.state, action),
      status: next.status,
      feedback: next.feedback,
      score: next.score,
      gap_before: false,
      prompt: prompts[n]!,
      prompt_ids: [...requests[n]!.promptIds],
      ...(cuts[n] === 0 ? {} : { prompt_cut: cuts[n] }),
      response: text,
      response_ids: responseIds,
      rollout_logprobs: Array.from(logprobs),
    });
    live.turn = next;
    if (next.done) live.ended = "environment";
  }
}

/** What a menu choice stood for; null where no menu was open, or none of its options was taken. */
function boundTo(state: State | null, action: string | null): string | null {
  if (state === null || action === null || !Object.hasOwn(state.options, action)) return null;
  const meaning = foldWhiteSpace(state.options[action]!);
  return meaning === action || meaning === "" ? null : meaning;
}

function toEpisode({ task, start, turn, decisions, ended, unanswered }: Live): Episode {
  const whole = ended !== "technical";
  return {
    format: "gcopd.episode.v1",
    environment: task.environment,
    task: task.task,
    episode: task.episode,
    task_description: start.description,
    initial_observation: start.observation,
    decisions,
    final_state: turn.state,
    outcome: {
      complete: whole,
      success: turn.success,
      score: turn.score,
      ended: ended ?? "horizon",
      verified: whole,
      ...(unanswered === null ? {} : { technical_reason: unanswered }),
    },
  };
}
