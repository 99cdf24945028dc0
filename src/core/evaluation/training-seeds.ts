/** Figures over training seeds: what another training of the same method would have given. Inference seeds stay apart. */
import type { Interval } from "../bootstrap.ts";
import { InputError } from "../errors.ts";
import { twoSidedP, twoSidedT } from "../student-t.ts";
import {
  compareEvaluations,
  type EvaluatedEpisode,
  evaluationResults,
  type Spread,
  type TechnicalEnd,
  technicalEnds,
} from "./metrics.ts";

/** A figure over n training seeds. */
export interface OverSeeds {
  n: number;
  mean: number;
  /** Sample standard deviation (n − 1); null for one seed. */
  sd: number | null;
  /** 95 % interval of the mean by Student's t; null for one seed. */
  interval: Interval | null;
}

/** The difference of two methods, paired by training seed, in the unit of the figure. */
export interface PairedDifference extends OverSeeds {
  /** Two-sided p of the paired t-test over training seeds; null for one seed, and where all differences are equal. */
  p: number | null;
  /** The same after Holm, over all pairs of the table. */
  p_holm: number | null;
  /** 95 % interval over tasks, the training seeds as they are; null for one task, and where all tasks gave the same. */
  over_tasks: Interval | null;
}

export interface CellFigures {
  method: string;
  training_seed: number;
  /** Over inference seeds. */
  sr: Spread;
  score: Spread | null;
  rounds: Spread;
  /** Its episodes that are not results. */
  technical: TechnicalEnd[];
}

export interface MethodFigures {
  method: string;
  label: string;
  training_seeds: number[];
  sr: OverSeeds;
  score: OverSeeds | null;
  rounds: OverSeeds;
}

export interface MethodComparison {
  /** Differences are of `a` less `b`. */
  a: string;
  b: string;
  training_seeds: number[];
  sr: PairedDifference;
  score: PairedDifference | null;
}

/** One evaluation of one kind of checkpoint: a row per method that has a cell in it. */
export interface GridTable {
  evaluation: string;
  environment: string;
  /** `final`, `best`, or `step-N`. */
  checkpoint: string;
  inference_seeds: number[];
  /** Tasks that count: the same in every figure of the table. */
  tasks: number;
  /** The others: an episode of one cell, or of the untrained student, is not a result. */
  left_out: string[];
  methods: MethodFigures[];
  /** The student before training: one model, so over inference seeds alone. Null where it was not measured. */
  untrained: Pick<CellFigures, "sr" | "score" | "rounds" | "technical"> | null;
  comparisons: MethodComparison[];
  cells: CellFigures[];
}

/** What was played to measure one cell. */
export interface PlayedCell {
  method: string;
  seed: number;
  episodes: readonly EvaluatedEpisode[];
}

export interface GridTableInput {
  evaluation: string;
  environment: string;
  checkpoint: string;
  methods: readonly { id: string; label: string }[];
  cells: readonly PlayedCell[];
  untrained: readonly EvaluatedEpisode[] | null;
}

/**
 * The table of one evaluation, over the tasks that every cell and the untrained student have results of: rows compare only
 * on the same tasks.
 *
 * @returns null when there is no such task
 * @throws InputError when cells were not played on the same tasks and inference seeds, or nothing was played
 */
export function gridTable(input: GridTableInput): GridTable | null {
  const { methods, untrained, ...names } = input;
  const all = [...input.cells.map(({ episodes }) => episodes), ...(untrained === null ? [] : [untrained])];
  const tasks = new Set(all.flat().map(({ task }) => task));
  if (tasks.size === 0) throw new InputError("nothing was evaluated; expected one cell at least");
  const leftOut = new Set(all.flatMap((episodes) => technicalEnds(episodes).map(({ task }) => task)));
  if (leftOut.size === tasks.size) return null;
  const counted = (episodes: readonly EvaluatedEpisode[]) =>
    episodes.filter(({ task }) => !leftOut.has(task));
  const cells = input.cells.map((cell) => ({ ...cell, episodes: counted(cell.episodes) }));
  const figures = cells.map(({ method, seed, episodes }, n) => ({
    method,
    training_seed: seed,
    ...cellFigures(episodes, input.cells[n]!.episodes),
  }));
  return {
    ...names,
    inference_seeds: [...new Set(all[0]!.map(({ seed }) => seed))].sort((a, b) => a - b),
    tasks: tasks.size - leftOut.size,
    left_out: [...leftOut].sort(),
    methods: methods.flatMap(({ id, label }) => {
      const own = figures.filter(({ method }) => method === id);
      if (own.length === 0) return [];
      const scores = own.flatMap(({ score }) => (score === null ? [] : [score.mean]));
      return {
        method: id,
        label,
        training_seeds: own.map(({ training_seed }) => training_seed),
        sr: overSeeds(own.map(({ sr }) => sr.mean)),
        score: scores.length < own.length ? null : overSeeds(scores),
        rounds: overSeeds(own.map(({ rounds }) => rounds.mean)),
      };
    }),
    untrained: untrained === null ? null : cellFigures(counted(untrained), untrained),
    comparisons: comparisons(methods, cells),
    cells: figures,
  };
}

function cellFigures(counted: readonly EvaluatedEpisode[], played: readonly EvaluatedEpisode[]) {
  const { sr, score, rounds } = evaluationResults(counted);
  return { sr, score, rounds, technical: technicalEnds(played) };
}

/** Part of a mean by which sums of equal figures may differ: they were added in another order. */
const ROUNDING = 1e-9;

/** Mean, sample SD and Student's 95 % interval. */
export function overSeeds(values: readonly number[]): OverSeeds {
  const n = values.length;
  const mean = values.reduce((sum, value) => sum + value, 0) / n;
  if (n < 2) return { n, mean, sd: null, interval: null };
  const deviation = Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (n - 1));
  const sd = deviation <= ROUNDING * Math.max(1, Math.abs(mean)) ? 0 : deviation;
  const half = (twoSidedT(0.05, n - 1) * sd) / Math.sqrt(n);
  return { n, mean, sd, interval: [mean - half, mean + half] };
}

/** Two-sided p of a mean difference of 0; null where the differences do not vary, so that there is nothing to test by. */
export function pairedP({ n, mean, sd }: OverSeeds): number | null {
  return sd === null || sd === 0 ? null : twoSidedP(mean / (sd / Math.sqrt(n)), n - 1);
}

/** Every method less each one before it, over the training seeds that both have. */
function comparisons(methods: readonly { id: string }[], cells: readonly PlayedCell[]): MethodComparison[] {
  const found = methods.flatMap(({ id: a }, n) =>
    methods.slice(0, n).flatMap(({ id: b }) => {
      const of = (method: string) => cells.filter((cell) => cell.method === method);
      const seeds = of(a)
        .map(({ seed }) => seed)
        .filter((seed) => of(b).some((other) => other.seed === seed));
      const played = (method: string, seed: number) =>
        of(method).find((cell) => cell.seed === seed)!.episodes;
      const pairs = seeds.map((seed): Pair => [played(a, seed), played(b, seed)]);
      return pairs.length === 0 ? [] : [compareMethods(a, b, seeds, pairs)];
    }),
  );
  holm(found.map(({ sr }) => sr));
  holm(found.flatMap(({ score }) => (score === null ? [] : [score])));
  return found;
}

type Pair = [a: readonly EvaluatedEpisode[], b: readonly EvaluatedEpisode[]];

function compareMethods(a: string, b: string, seeds: number[], pairs: readonly Pair[]): MethodComparison {
  // The trainings as repetitions of one another: intervals over tasks average over them.
  const together = compareEvaluations(pooled(pairs.map(([of]) => of)), pooled(pairs.map(([, of]) => of)));
  const each = pairs.map(([of, other]) => compareEvaluations(of, other));
  const paired = (differences: readonly number[], over_tasks: Interval | null): PairedDifference => {
    const over = overSeeds(differences);
    return { ...over, p: pairedP(over), p_holm: null, over_tasks };
  };
  const scores = each.flatMap(({ score }) => (score === null ? [] : [score.difference]));
  return {
    a,
    b,
    training_seeds: seeds,
    sr: paired(
      each.map(({ sr }) => sr.difference),
      together.sr.interval,
    ),
    score: together.score === null ? null : paired(scores, together.score.interval),
  };
}

function pooled(trainings: readonly (readonly EvaluatedEpisode[])[]): EvaluatedEpisode[] {
  const seeds = [...new Set(trainings.flat().map(({ seed }) => seed))].sort((a, b) => a - b);
  return trainings.flatMap((episodes, n) =>
    episodes.map((episode) => ({ ...episode, seed: n * seeds.length + seeds.indexOf(episode.seed) })),
  );
}

/** Holm's step-down adjustment, written into the tests. */
export function holm(tests: readonly Pick<PairedDifference, "p" | "p_holm">[]): void {
  const sorted = tests
    .flatMap((test) => (test.p === null ? [] : [{ test, p: test.p }]))
    .sort((a, b) => a.p - b.p);
  let least = 0;
  sorted.forEach(({ test, p }, n) => {
    least = Math.max(least, Math.min(1, p * (sorted.length - n)));
    test.p_holm = least;
  });
}
