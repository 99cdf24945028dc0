/**
 * Libraries and episodes of any size with the statistics of recorded ones, as a stream: one record in memory at a time,
 * and the same records for the same seed wherever they are made.
 */
import { InputError } from "../../core/errors.ts";
import type {
  Attempt,
  Episode,
  EpisodeDecision,
  Outcome,
  Source,
  SourceDecision,
} from "../../core/record/schema.ts";
import { uniforms } from "../../core/seeded.ts";
import { EPISODE_RATES, HORIZON, quantile, RESPONSE_LENGTHS, SOURCE_RATES } from "./statistics.ts";
import { actionText, feedbackText, promptText, responseText } from "./text.ts";
import { type Move, mix, TaskWorld } from "./world.ts";

export interface SynthOptions {
  tasks: number;
  /** Executions of each task. */
  sources: number;
  /** Student rollouts in all; task i gets episodes i, i + tasks, …, so the file goes through all tasks in turn. */
  episodes: number;
  /** A whole number from 0 to 2^31 − 1. */
  seed: number;
  /** Most decisions of one execution; the recorded ones' 30 when absent. */
  horizon?: number;
}

/** Room for "synthetic-…" tasks in the environment whose statistics they have. */
const ENVIRONMENT = "scienceworld";
const SOURCE_STREAM = 1;
const EPISODE_STREAM = 2;

function check({ tasks, sources, episodes, seed, horizon = HORIZON }: SynthOptions): void {
  for (const [key, value, least, most] of [
    ["tasks", tasks, 0, 1e8],
    ["sources", sources, 0, 1e6],
    ["episodes", episodes, 0, 1e9],
    ["seed", seed, 0, 2 ** 31 - 1],
    ["horizon", horizon, 1, 1e4],
  ] as const) {
    if (!Number.isInteger(value) || value < least || value > most) {
      throw new InputError(`expected a whole number from ${least} to ${most}, received ${value}`, { key });
    }
  }
  if (episodes > 0 && tasks === 0) throw new InputError("episodes need a task", { key: "tasks" });
}

/** All sources, task by task. */
export function* synthSources(options: SynthOptions): Generator<Source> {
  check(options);
  for (let i = 0; i < options.tasks; i++) {
    const world = new TaskWorld(options.seed, i);
    for (let r = 0; r < options.sources; r++) yield synthSource(options, world, i, r);
  }
}

/** All episodes, round by round through the tasks. */
export function* synthEpisodes(options: SynthOptions): Generator<Episode> {
  check(options);
  for (let e = 0; e < options.episodes; e++) {
    const place = e % options.tasks;
    yield synthEpisode(options, new TaskWorld(options.seed, place), e, Math.floor(e / options.tasks));
  }
}

function synthSource(options: SynthOptions, world: TaskWorld, place: number, repetition: number): Source {
  const { seed, horizon = HORIZON } = options;
  const rates = SOURCE_RATES;
  const uniform = uniforms(mix(seed, SOURCE_STREAM, place, repetition));
  const noise = (repetition % rates.noiseLevels) * rates.noiseStep;
  const technicalAt =
    uniform() < rates.technical ? Math.floor(uniform() * horizon) : Number.POSITIVE_INFINITY;
  const gapAt = uniform() < rates.gap ? 1 + Math.floor(uniform() * 8) : -1;
  const complete = uniform() >= rates.incomplete;
  const verified = uniform() >= rates.unverified;
  const decisions: SourceDecision[] = [];
  let at = world.start;
  let observation = world.initialObservation;
  let technical = false;
  while (decisions.length < horizon && !world.won(at)) {
    if (decisions.length === technicalAt) {
      technical = true;
      break;
    }
    const attempts: Attempt[] = [];
    while (attempts.length < 5 && uniform() < rates.attempts / (1 + rates.attempts)) {
      attempts.push(
        uniform() < rates.unreadable
          ? { action: null, reason: "format", feedback: "The answer could not be read." }
          : {
              action: actionText(12, uniform),
              reason: "rejected",
              feedback: "No known action matches that input.",
            },
      );
    }
    const move: Move = uniform() < noise ? world.stray(uniform, rates.lasting) : { kind: "plan" };
    const { action, feedback } = world.texts(at, move);
    const next = world.move(at, move);
    const binding = at.menu ? world.options(at)["0"]! : null;
    decisions.push({
      observation,
      state: uniform() < rates.nullState ? null : world.state(at),
      action: at.menu ? "0" : action,
      binding,
      status: at.menu ? "binding" : uniform() < rates.rolledBack ? "rolled_back" : "executed",
      feedback,
      score: world.score(next),
      gap_before: decisions.length === gapAt,
      attempts,
    });
    at = next;
    observation = feedback;
  }
  const success = world.won(at);
  return {
    format: "gcopd.source.v1",
    environment: ENVIRONMENT,
    task: world.task,
    source: `teacher:${repetition}`,
    repetition,
    origin: { kind: "teacher", policy: "synthetic", noise: Math.round(noise * 1000) / 1000 },
    task_description: world.description,
    initial_observation: world.initialObservation,
    decisions,
    final_state: uniform() < rates.nullState ? null : world.state(at),
    outcome: {
      complete,
      success,
      score: world.score(at),
      ended: success ? "environment" : technical ? "technical" : "horizon",
      verified,
      reported_success: success,
    },
  };
}

function synthEpisode(options: SynthOptions, world: TaskWorld, place: number, round: number): Episode {
  const { seed, horizon = HORIZON } = options;
  const rates = EPISODE_RATES;
  const uniform = uniforms(mix(seed, EPISODE_STREAM, place));
  const noise = rates.noiseLeast + uniform() * (rates.noiseMost - rates.noiseLeast);
  const withheld = uniform() < rates.withheld;
  const decisions: EpisodeDecision[] = [];
  const history: { observation: string; action: string | null }[] = [];
  let at = world.start;
  let observation = world.initialObservation;
  const located = () => (withheld || uniform() < rates.nullState ? null : world.state(at));
  while (decisions.length < horizon && !world.won(at)) {
    const prompt = promptText(world.description, history, observation);
    const length = quantile(RESPONSE_LENGTHS, uniform());
    const u = uniform();
    const base = { observation, state: located(), binding: null, gap_before: false, prompt };
    let decision: EpisodeDecision;
    if (u < rates.malformed) {
      const feedback = "The response held no action in the expected form.";
      const response = responseText(length, "", uniform).replaceAll(/<\/?action>/g, "");
      decision = { ...base, action: null, status: "malformed", feedback, score: world.score(at), response };
    } else if (u < rates.malformed + rates.rejected && !at.menu) {
      const action = actionText(14, uniform);
      const feedback = uniform() < 0.7 ? "No known action matches that input." : feedbackText(uniform);
      const response = responseText(length, action, uniform);
      decision = { ...base, action, status: "rejected", feedback, score: world.score(at), response };
    } else {
      const move: Move = uniform() < noise ? world.stray(uniform, rates.lasting) : { kind: "plan" };
      const texts = world.texts(at, move);
      const next = world.move(at, move);
      const action = at.menu ? "0" : texts.action;
      decision = {
        ...base,
        action,
        binding: at.menu ? world.options(at)["0"]! : null,
        status: at.menu ? "binding" : "executed",
        feedback: texts.feedback,
        score: world.score(next),
        response: responseText(length, action, uniform),
      };
      at = next;
    }
    history.push({ observation, action: decision.action });
    observation = decision.feedback;
    decisions.push(decision);
  }
  const success = world.won(at);
  const outcome: Outcome = {
    complete: true,
    success,
    score: world.score(at),
    ended: success ? "environment" : "horizon",
    verified: true,
  };
  return {
    format: "gcopd.episode.v1",
    environment: ENVIRONMENT,
    task: world.task,
    episode: `${world.task}#${round}`,
    task_description: world.description,
    initial_observation: world.initialObservation,
    decisions,
    final_state: located(),
    outcome,
  };
}
