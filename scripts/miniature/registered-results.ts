/** What the registered trainings say together: tables over worlds and training seeds, and the file that the page draws. */
import { table } from "../../src/cli/demo/table.ts";
import { InputError } from "../../src/core/errors.ts";
import { overSeeds } from "../../src/core/evaluation/training-seeds.ts";
import { RESULTS_FORMAT } from "../../src/core/loop/experiment-results.ts";
import { methodLabel } from "../../src/core/method/index.ts";
import type { RegisteredCell } from "./cells.ts";
import {
  type PooledDifference,
  type PooledMethod,
  pooledDifferences,
  pooledMethods,
  type Unit,
} from "./pooled.ts";
import type { Registration } from "./registration.ts";

export interface RegisteredResults {
  format: "gcopd.registered.v1";
  registered: string | null;
  worlds: number[];
  seeds: number[];
  methods: PooledMethod[];
  primary: PooledDifference[];
  secondary: PooledDifference[];
  units: Unit[];
  deviations: string[];
}

/** @throws InputError for a training of a world, method or seed that is not registered */
export function registeredResults(
  registration: Registration,
  cells: readonly RegisteredCell[],
  deviations: string[],
): RegisteredResults {
  const { worlds, seeds, methods } = registration;
  const other = cells.find(
    ({ world, seed, method }) =>
      !worlds.includes(world) || !seeds.includes(seed) || !methods.some(({ id }) => id === method),
  );
  if (other !== undefined)
    throw new InputError(`world ${other.world}, ${other.method}, seed ${other.seed} is not registered`);
  const units = cells.map(({ world, seed, method, unseen }) => ({ world, seed, method, success: unseen }));
  return {
    format: "gcopd.registered.v1",
    registered: registration.registered ?? null,
    worlds,
    seeds,
    methods: pooledMethods(labelled(registration), units),
    primary: pooledDifferences(registration.primary, units),
    secondary: pooledDifferences(registration.secondary, units),
    units,
    deviations,
  };
}

const labelled = ({ methods }: Registration) =>
  methods.map(({ id, label = methodLabel(id) }) => ({ id, label }));

/** The tables as text. */
export function resultsText({
  worlds,
  seeds,
  methods,
  primary,
  secondary,
  deviations,
}: RegisteredResults): string {
  const planned = worlds.length * seeds.length;
  const differences = (title: string, of: readonly PooledDifference[]): string[] =>
    of.length === 0
      ? []
      : [
          title,
          table(
            ["a less b", "n", "difference", "95 %", "p", "p (Holm)", "by world"],
            of.map(({ a, b, over, p, p_holm, by_world }) => [
              ...[`${a} − ${b}`, `${over.n} of ${planned}`, two(over.mean), range(over.interval)],
              ...[p?.toPrecision(2) ?? "–", p_holm?.toPrecision(2) ?? "–"],
              by_world.map(({ mean }) => two(mean)).join(" / "),
            ]),
          ),
        ];
  return [
    "Success on unseen tasks of the trained students, in percent, over worlds × training seeds:",
    table(
      ["Method", "n", "mean", "SD", "95 %", "by world"],
      methods.map(({ label, over, by_world }) => [
        ...[label, `${over.n} of ${planned}`, two(over.mean), two(over.sd), range(over.interval)],
        by_world.map(({ mean }) => two(mean)).join(" / "),
      ]),
    ),
    ...differences("Primary comparisons, in percentage points:", primary),
    ...differences("Secondary comparisons:", secondary),
    deviations.length === 0 ? "No deviations." : ["Deviations:", ...deviations].join("\n- "),
  ].join("\n\n");
}

/**
 * What every method's trainings reached so far, the primary comparisons that have all their pairs, and the curves of the
 * methods that have all their trainings, as results of an experiment, which the page draws as bands.
 */
export function registeredForPage(registration: Registration, cells: readonly RegisteredCell[]): object {
  const results = registeredResults(registration, cells, []);
  const planned = registration.worlds.length * registration.seeds.length;
  const complete = results.methods.filter(({ over }) => over.n === planned);
  const curves = (method: string) => cells.filter((cell) => cell.method === method).map(({ curve }) => curve);
  const steps = [...new Set(cells.flatMap(({ curve }) => curve.map(([at]) => at)))].sort((a, b) => a - b);
  const at = (step: number, method: string) =>
    overSeeds(
      curves(method).flatMap((curve) => curve.flatMap(([s, success]) => (s === step ? [success] : []))),
    );
  const last = steps.at(-1)!;
  const kept = (pair: PooledDifference) => pair.over.n === planned;
  return {
    format: RESULTS_FORMAT,
    registered: {
      date: registration.registered,
      worlds: registration.worlds,
      training_seeds: registration.seeds.length,
      tasks: registration.unseen.count,
      inference_seeds: registration.unseen.seeds.length,
      trainings: cells.length,
      planned: planned * registration.methods.length,
      fallen_below: FALLEN_BELOW,
      methods: results.methods.map(({ method, label, over }) => ({
        ...{ method, label, ...figures(over) },
        ...falls(cells, method),
      })),
      primary: results.primary
        .filter(kept)
        .map(({ a, b, over, p_holm }) => ({ a, b, ...figures(over), p: p_holm })),
    },
    cells: complete.map(({ method }) => ({ method, steps: last })),
    tables: steps
      .filter((step) => step > 0)
      .map((step) => ({
        evaluation: `${registration.curve?.count} unseen tasks`,
        environment: "alfworld",
        checkpoint: step === last ? "final" : `step-${step}`,
        methods: complete.map(({ method, label }) => ({ method, label, sr: figures(at(step, method)) })),
        untrained: { sr: { mean: at(0, complete[0]!.method).mean } },
      })),
  };
}

/** Success in percent below which a training counts as fallen: it has unlearned what its untrained student could do. */
const FALLEN_BELOW = 2;

function falls(cells: readonly RegisteredCell[], of: string): { fallen: number; others: number | null } {
  const own = cells.filter(({ method }) => method === of).map(({ unseen }) => unseen);
  const others = own.filter((success) => success >= FALLEN_BELOW);
  return {
    fallen: own.length - others.length,
    others: others.length === 0 ? null : rounded(overSeeds(others).mean),
  };
}

/** Rounded so far below the tenths that a page shows that rounding again changes none of them. */
const figures = ({
  n,
  mean,
  interval,
}: {
  n: number;
  mean: number;
  interval: readonly [number, number] | null;
}) => ({
  n,
  mean: rounded(mean),
  interval: interval === null ? null : interval.map(rounded),
});
const rounded = (value: number): number => Math.round(1e4 * value) / 1e4;

const two = (value: number | null): string => (value === null ? "–" : value.toFixed(2));
const range = (interval: readonly [number, number] | null): string =>
  interval === null ? "–" : `${two(interval[0])} to ${two(interval[1])}`;
