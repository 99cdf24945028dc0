/** A collection or an evaluation by a model of the page, in the games of the page. */
import { environmentRules } from "../../../core/environment/environment.ts";
import { evaluatedEpisode } from "../../../core/evaluation/index.ts";
import {
  collectionEpisodes,
  evaluationEpisodes,
  type PlannedEpisode,
  type PlayEvent,
  type PlayLog,
  playPlanned,
  type TextCodec,
} from "../../../core/loop/index.ts";
import type { Sampler } from "../../../core/ports.ts";
import type { Source } from "../../../core/record/schema.ts";
import { connectedPlans, openTasks, playedAtOnce, templateOf } from "../games/internal/connected-games.ts";
import { dropOutcome, keepPlayed } from "../runs/live-archive.ts";
import type { KeptLiveRun, LiveOutcome, LiveRunEvent } from "../runs/live-run.ts";

/** What is to be played; `ended` are the episodes that were played before. */
export interface LiveRunAsk extends Pick<KeptLiveRun, "id" | "plan" | "model"> {
  ended: readonly string[];
}

export interface LiveRunWork {
  run: LiveRunAsk;
  sampler: Sampler;
  codec: TextCodec;
  signal: AbortSignal;
  /** Resolves when the event was taken: what a run says last must not come after its end. */
  emit: (event: LiveRunEvent) => void | Promise<void>;
}

/** Plays what a run still lacks. Each episode is kept and reported as it ends. */
export async function playLiveRun(work: LiveRunWork): Promise<void> {
  const { plan, model } = work.run;
  const { environment, tasks, max_decisions, max_tokens, prompt } = plan;
  const live = openTasks(
    { name: environment, max_decisions, max_tokens },
    tasks,
    templateOf(environment, prompt),
  );
  if (plan.kind === "evaluate") return playKept(work, evaluationEpisodes(live, plan), evaluatedEpisode);
  const games = { ...connectedPlans(environment), tasks: live };
  return playKept(work, collectionEpisodes(games, plan, model.name), collected);
}

function collected({ environment, task, repetition, decisions, outcome }: Source): LiveOutcome {
  return {
    task,
    type: environmentRules(environment).taskType(task),
    seed: repetition,
    success: outcome.success,
    score: outcome.score,
    decisions: decisions.length,
    verified: outcome.verified,
    ...(outcome.ended === "technical" ? { technical: String(outcome.technical_reason) } : {}),
  };
}

async function playKept<R extends object>(
  { run: { id, plan, ended: before }, sampler, codec, signal, emit }: LiveRunWork,
  planned: readonly PlannedEpisode<R>[],
  outcomeOf: (record: R) => LiveOutcome,
): Promise<void> {
  await emit({ type: "planned", ids: planned.map((each) => each.id) });
  const limits = new Map(
    planned.flatMap(({ id, how }) => ("task" in how ? [[id, how.task.maxDecisions]] : [])),
  );
  const drawn = new Map<string, number>();
  const tellPlayed = (): void => {
    const shares = [...drawn].map(([episode, times]) => Math.min(1, times / (limits.get(episode) ?? 1)));
    void emit({ type: "played", share: shares.reduce((sum, share) => sum + share, 0) });
  };
  const counting: Sampler = {
    async sample(requests, options) {
      const results = await sampler.sample(requests, options);
      for (const { id: episode } of requests) drawn.set(episode, (drawn.get(episode) ?? 0) + 1);
      tellPlayed();
      return results;
    },
    forget: () => sampler.forget?.(),
  };
  const ended = new Set(before);
  /** First ends that are being taken out of what is kept. */
  const dropping = new Map<string, Promise<unknown>>();
  const log: PlayLog<R> = {
    get ended() {
      return ended.size;
    },
    hasEnded: (episode) => ended.has(episode),
    begun: () => undefined,
    write(event: PlayEvent) {
      if (event.type !== "start") return;
      if (ended.delete(event.episode))
        dropping.set(
          event.episode,
          dropOutcome(id, event.episode).catch(() => undefined),
        );
      void emit({ type: "begun", episode: event.episode });
    },
    async end(episode, record) {
      const outcome = record === null ? null : outcomeOf(record);
      await dropping.get(episode);
      const kept = await keepPlayed(id, episode, { outcome, record }).then(
        () => true,
        () => false,
      );
      ended.add(episode);
      drawn.delete(episode);
      tellPlayed();
      await emit({ type: "ended", episode, outcome, unkept: kept ? null : record });
    },
  };
  await playPlanned(planned, log, {
    inGroups: plan.kind === "evaluate",
    atOnce: await playedAtOnce(plan.environment, plan.at_once),
    onProgress: () => undefined,
    signal,
    withPolicy: (work) => work(counting, codec),
  });
}
