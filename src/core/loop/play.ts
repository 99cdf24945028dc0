/** Episodes played by a model: all that run advance together, one response each at a time. */
import { PromptLimitError } from "../environment/prompt-limit.ts";
import type { Environment, SampleRequest, SampleResult, Sampler, WorkOptions } from "../ports.ts";
import { seedOf } from "../seeded.ts";
import type { TextCodec } from "./codec.ts";
import {
  beginEpisode,
  finished,
  type LiveEpisode,
  type PlayEvent,
  type Played,
  type PlayTask,
  reply,
  unanswered,
  type Written,
} from "./live-episode.ts";

export interface PlayOptions extends WorkOptions {
  /** Episodes that run at the same time; all when absent. */
  atOnce?: number;
  /** Called with every start, decision and attempt, in order, before the next response is sampled. */
  onPlayed?: (event: PlayEvent) => void;
}

/**
 * Plays every task. Each decision is recorded with its prompt, ids and log-probabilities. An episode ends when the
 * environment says so or the task is won, after `maxDecisions` (`horizon`), when its attempts are used up, when the
 * environment cannot answer or a prompt is over its limit (`technical`; the decision that could not be made is not part of
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
  const running = new Set<LiveEpisode>();
  let next = 0;
  try {
    while (true) {
      signal?.throwIfAborted();
      const starting = tasks.slice(next, next + atOnce - running.size);
      next += starting.length;
      // Together: a simulator may take seconds to start. None is starting any more when a fault is thrown.
      const begun = await Promise.allSettled(
        starting.map(async (task) => {
          const opened = await task.open();
          open.add(opened.environment);
          return beginEpisode({ task, opened }, onPlayed);
        }),
      );
      for (const each of begun) {
        if (each.status === "rejected") throw each.reason;
        running.add(each.value);
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

/** One response for every running episode. */
async function advance(
  running: readonly LiveEpisode[],
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

export interface Asked {
  live: LiveEpisode;
  request: SampleRequest;
  message: string;
  /** Tokens left out at the prompt's beginning. */
  cut: number;
}

function ask(live: LiveEpisode, codec: TextCodec): Asked {
  const { task, opened, start, turn, decisions, attempts } = live;
  const decision = decisions.length;
  const { message, earlier } = opened.prompt(start, turn, decisions);
  const place = { episode: task.episode, decision };
  const { ids, cut } = codec.prompt({ prompt: message, earlier }, task.environment, place);
  const seed = seedOf(task.seedText({ decision, attempt: attempts[decision]!.length }));
  const request = drawRequest(task, ids, seed, codec);
  const messages = [...earlier, { role: "user" as const, content: message }];
  return { live, message, cut, request: cut === 0 ? { ...request, messages } : request };
}

/** How a task's response to a prompt is drawn. */
export function drawRequest(
  { episode, maxTokens, sampling }: Pick<PlayTask, "episode" | "maxTokens" | "sampling">,
  promptIds: readonly number[],
  seed: number,
  { endOfTurnId, drawable }: Pick<TextCodec, "endOfTurnId" | "drawable">,
): SampleRequest {
  const { temperature, topP, topK } = sampling;
  return {
    id: episode,
    promptIds,
    maxTokens,
    temperature,
    ...(topP === 1 ? {} : { topP }),
    ...(topK === null ? {} : { topK }),
    seed,
    stopIds: [endOfTurnId],
    drawable,
  };
}

/** What was read and written, as records keep it. */
export function writtenBy(
  { message, cut, request }: Omit<Asked, "live">,
  { responseIds, logprobs, stop }: SampleResult,
  codec: Pick<TextCodec, "decode">,
): Written & { response: string } {
  return {
    prompt: message,
    prompt_ids: [...request.promptIds],
    ...(cut === 0 ? {} : { prompt_cut: cut }),
    response: codec.decode(stop === "stop" ? responseIds.slice(0, -1) : responseIds),
    response_ids: responseIds,
    rollout_logprobs: Array.from(logprobs),
  };
}

/** Reads the action out of a response, and answers with it. */
async function take(
  asked: Asked,
  result: SampleResult,
  codec: TextCodec,
  onPlayed: (event: PlayEvent) => void,
): Promise<void> {
  const { live } = asked;
  const written = writtenBy(asked, result, codec);
  await reply(live, live.task.parse(written.response, live.turn.observation), written, onPlayed);
}
