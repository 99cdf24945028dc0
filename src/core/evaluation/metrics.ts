/** The figures of an evaluation (Section "Setup", Appendix "Agent inputs and evaluation"): SR, Score, Rounds, pass@K. */
import { bootstrap, type Interval } from "../bootstrap.ts";
import { InputError } from "../errors.ts";

export type { Interval } from "../bootstrap.ts";

/** One episode that was played to measure a student. */
export interface EvaluatedEpisode {
  task: string;
  /** The task's type, for example `pick_and_place`; null where its environment has none. */
  type: string | null;
  /** Number of the repetition, which its seeds depend on. */
  seed: number;
  success: boolean;
  /** In 0 … 100; null where the environment has no score beside success (ALFWorld). */
  score: number | null;
  decisions: number;
  /** Why its environment could not go on; absent where it was played to its end. Such an episode is not a result. */
  technical?: string;
}

/** An episode that is not a result. */
export interface TechnicalEnd {
  task: string;
  seed: number;
  reason: string;
}

/** Mean and sample standard deviation (n − 1) over repetitions; no deviation for one repetition. */
export interface Spread {
  mean: number;
  sd: number | null;
}

/** Figures of the episodes of one repetition. */
export interface SeedFigures {
  seed: number;
  /** Share of tasks won, in percent. */
  sr: number;
  /** Mean score; null without scores. */
  score: number | null;
  /** Mean number of decisions, over all tasks. */
  rounds: number;
}

/** Figures of some tasks over all repetitions. */
export interface Figures {
  tasks: number;
  sr: Spread;
  score: Spread | null;
  rounds: Spread;
  per_seed: SeedFigures[];
}

/** Figures of an evaluation, as `results.json` holds them. */
export interface EvaluationResults extends Figures {
  seeds: number[];
  /** 95 % interval of SR over tasks, as `overTasks` has it. */
  sr_interval: Interval | null;
  /** Share of tasks, in percent, that at least one repetition won: pass@K with K the number of repetitions. */
  pass_at_k: number;
  /** Mean of the tasks' best scores; null without scores. */
  score_at_k: number | null;
  per_type: Record<string, Figures>;
  /** Episodes that are not results: every figure leaves their tasks out, with all repetitions. */
  technical: TechnicalEnd[];
}

/** Student a against student b on the same tasks and seeds. */
export interface Comparison {
  tasks: number;
  seeds: number[];
  /** Tasks that are left out, since an episode of either student is not a result. */
  left_out: string[];
  /** SR of a less SR of b, in percentage points, and its 95 % interval over tasks, as `overTasks` has it. */
  sr: { difference: number; interval: Interval | null };
  /** The same for Score; null where either has none. */
  score: { difference: number; interval: Interval | null } | null;
  /** Pairs of episodes (same task, same seed) by who won. */
  pairs: { both: number; only_a: number; only_b: number; neither: number };
}

/**
 * SR, Score and Rounds as mean and SD over repetitions, and pass@K and Score@K over them.
 *
 * @param episodes every task once per repetition, in any order
 * @throws InputError for no episode, for a pair of task and seed that is missing or there twice, for scores that only
 * some episodes have, and when no task is left beside those with a technical end
 */
export function evaluationResults(all: readonly EvaluatedEpisode[]): EvaluationResults {
  const technical = technicalEnds(all);
  const episodes = without(new Set(technical.map(({ task }) => task)), all);
  const { tasks, seeds } = complete(episodes);
  const types = new Map<string, EvaluatedEpisode[]>();
  for (const episode of episodes) {
    if (episode.type !== null) types.set(episode.type, [...(types.get(episode.type) ?? []), episode]);
  }
  const perTask = [...tasks.values()];
  const scored = episodes[0]!.score !== null;
  return {
    ...figures(episodes, seeds),
    seeds,
    sr_interval: overTasks(perTask.map((played) => mean(played.map(won)))),
    pass_at_k: mean(perTask.map((played) => Math.max(...played.map(won)))),
    score_at_k: scored ? mean(perTask.map((played) => Math.max(...played.map(points)))) : null,
    per_type: Object.fromEntries(
      [...types].sort(([a], [b]) => (a < b ? -1 : 1)).map(([type, of]) => [type, figures(of, seeds)]),
    ),
    technical,
  };
}

/** Says which episodes are not results; null where all are. */
export function technicalNote(
  { technical }: Pick<EvaluationResults, "technical">,
  episodes: number,
): string | null {
  const [first] = technical;
  if (first === undefined) return null;
  const tasks = new Set(technical.map(({ task }) => task)).size;
  return (
    `${technical.length} of ${episodes} episodes ended for a technical reason and are not results: the figures leave out ` +
    `${tasks === 1 ? "their task" : `their ${tasks} tasks`} (first: ${first.task}, seed ${first.seed}: ${first.reason})`
  );
}

/**
 * A paired comparison.
 *
 * @throws InputError when the two were not played on the same tasks and seeds, and as `evaluationResults` does
 */
export function compareEvaluations(
  allOfA: readonly EvaluatedEpisode[],
  allOfB: readonly EvaluatedEpisode[],
): Comparison {
  const leftOut = new Set(technicalEnds([...allOfA, ...allOfB]).map(({ task }) => task));
  const [a, b] = [without(leftOut, allOfA), without(leftOut, allOfB)];
  const { tasks, seeds } = complete(a);
  const other = complete(b).tasks;
  const missing = [...tasks.keys()].find((task) => !other.has(task));
  const surplus = [...other.keys()].find((task) => !tasks.has(task));
  if (missing !== undefined || surplus !== undefined) {
    const [task, side] = missing === undefined ? [surplus!, "second"] : [missing, "first"];
    throw new InputError(
      `task ${JSON.stringify(task)} is only in the ${side} evaluation; expected the same tasks in both`,
    );
  }
  const partners = new Map(b.map((episode) => [pairKey(episode), episode]));
  const pairs = { both: 0, only_a: 0, only_b: 0, neither: 0 };
  const wins: number[] = [];
  const scores: number[] = [];
  for (const played of tasks.values()) {
    const paired = played.map((episode) => {
      const partner = partners.get(pairKey(episode));
      if (partner !== undefined) return [episode, partner] as const;
      throw new InputError(
        `seed ${episode.seed} of task ${JSON.stringify(episode.task)} is only in the first evaluation; ` +
          "expected the same seeds in both",
      );
    });
    for (const [first, second] of paired) {
      if (first.success) pairs[second.success ? "both" : "only_a"] += 1;
      else pairs[second.success ? "only_b" : "neither"] += 1;
    }
    wins.push(mean(paired.map(([first, second]) => won(first) - won(second))));
    scores.push(mean(paired.map(([first, second]) => points(first) - points(second))));
  }
  if (b.length !== a.length) {
    throw new InputError(
      `the first evaluation has ${seeds.length} seeds and the second more; expected the same in both`,
    );
  }
  const scored = a[0]!.score !== null && b[0]!.score !== null;
  return {
    tasks: tasks.size,
    seeds,
    left_out: [...leftOut].sort(),
    sr: { difference: mean(wins), interval: overTasks(wins) },
    score: scored ? { difference: mean(scores), interval: overTasks(scores) } : null,
    pairs,
  };
}

/**
 * Bootstrap interval of a mean over tasks; null for one task, and where all gave the same: resampling would make an interval
 * of no width, which says nothing of other tasks.
 */
function overTasks(values: readonly number[]): Interval | null {
  return values.every((value) => value === values[0]) ? null : bootstrap(values);
}

function figures(episodes: readonly EvaluatedEpisode[], seeds: readonly number[]): Figures {
  const perSeed = seeds.map((seed): SeedFigures => {
    const played = episodes.filter((episode) => episode.seed === seed);
    return {
      seed,
      sr: mean(played.map(won)),
      score: played[0]!.score === null ? null : mean(played.map(points)),
      rounds: mean(played.map(({ decisions }) => decisions)),
    };
  });
  const scores = perSeed.map(({ score }) => score).filter((score) => score !== null);
  return {
    tasks: episodes.length / seeds.length,
    sr: spread(perSeed.map(({ sr }) => sr)),
    score: scores.length === 0 ? null : spread(scores),
    rounds: spread(perSeed.map(({ rounds }) => rounds)),
    per_seed: perSeed,
  };
}

/** The episodes that are not results. */
export function technicalEnds(episodes: readonly EvaluatedEpisode[]): TechnicalEnd[] {
  return episodes.flatMap(({ task, seed, technical }) =>
    technical === undefined ? [] : [{ task, seed, reason: technical }],
  );
}

/** The episodes of all other tasks. */
function without(
  leftOut: ReadonlySet<string>,
  episodes: readonly EvaluatedEpisode[],
): readonly EvaluatedEpisode[] {
  const left = episodes.filter(({ task }) => !leftOut.has(task));
  if (left.length > 0 || leftOut.size === 0) return left;
  const reason = episodes.find(({ technical }) => technical !== undefined)?.technical;
  throw new InputError(
    `no task is left: each has an episode that ended for a technical reason${reason === undefined ? "" : ` (${reason})`}`,
  );
}

/** Episodes by task, once it is sure that every task was played once per seed. */
function complete(episodes: readonly EvaluatedEpisode[]): {
  tasks: ReadonlyMap<string, EvaluatedEpisode[]>;
  seeds: number[];
} {
  if (episodes.length === 0) throw new InputError("no episode was played; expected at least one");
  const seeds = [...new Set(episodes.map(({ seed }) => seed))].sort((x, y) => x - y);
  const tasks = new Map<string, EvaluatedEpisode[]>();
  for (const episode of episodes) {
    const played = tasks.get(episode.task) ?? [];
    if (played.some(({ seed }) => seed === episode.seed)) {
      throw new InputError(`task ${JSON.stringify(episode.task)} was played twice with seed ${episode.seed}`);
    }
    played.push(episode);
    tasks.set(episode.task, played);
  }
  for (const [task, played] of tasks) {
    const missing = seeds.find((seed) => !played.some((episode) => episode.seed === seed));
    if (missing !== undefined) {
      throw new InputError(`task ${JSON.stringify(task)} was not played with seed ${missing}`);
    }
  }
  const scored = episodes[0]!.score !== null;
  const odd = episodes.find(({ score }) => (score !== null) !== scored);
  if (odd !== undefined) {
    throw new InputError(`task ${JSON.stringify(odd.task)}: expected a score in every episode or in none`);
  }
  return { tasks, seeds };
}

const won = ({ success }: EvaluatedEpisode): number => (success ? 100 : 0);
const points = ({ score }: EvaluatedEpisode): number => score ?? 0;
const pairKey = ({ task, seed }: EvaluatedEpisode): string => `${seed}|${task}`;

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function spread(values: readonly number[]): Spread {
  const centre = mean(values);
  if (values.length === 1) return { mean: centre, sd: null };
  const squares = values.reduce((sum, value) => sum + (value - centre) ** 2, 0);
  return { mean: centre, sd: Math.sqrt(squares / (values.length - 1)) };
}
