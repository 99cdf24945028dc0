/** The curves of a chart: runs, or the mean of runs that differ by their seed alone. */
import { bisector, deviation, group, mean } from "d3";
import { countOf } from "../../../core/plural.ts";
import { shownName } from "../../base/text/shown-text.ts";
import type { Run } from "../runs/run.ts";
import { configKey, seedOf } from "../runs/run-differences.ts";
import { type CurvePoint, curveOf, numberText, readAt, type ShownFigure } from "./figures.ts";

/** Most curves on one chart: as many as there are dash patterns. */
export const MOST_CURVES = 6;

/** Runs that are drawn as one curve; one run, or several of one config. */
export type Series = readonly [Run, ...Run[]];

/** The runs in their order, those of one config together where their seeds are averaged. */
export function seriesOf(runs: readonly Run[], averaged: boolean): Series[] {
  if (!averaged) return runs.map((run) => [run]);
  return [...group(runs, configKey).values()].map((seeds) => seeds as [Run, ...Run[]]);
}

/** What a series is called. */
export function seriesName(series: Series): string {
  const name = shownName(series[0].title);
  return series.length === 1 ? name : `${name}, mean of ${manyWords(series)}`;
}

function manyWords(series: Series): string {
  const seeds = new Set(series.map(seedOf)).size;
  return seeds === series.length ? countOf(seeds, "seed") : countOf(series.length, "run");
}

/** "#1": runs on a chart are numbered, since letters stand for quantities: A is the advantage. */
export const numberOf = (place: number): string => `#${place + 1}`;

const averages = new WeakMap<Series, Map<string, CurvePoint[]>>();

/** The curve of a series; of several runs their mean at each step, with one standard deviation on either side. */
export function seriesCurve(series: Series, key: ShownFigure["key"]): CurvePoint[] {
  const known = averages.get(series)?.get(key);
  if (known !== undefined) return known;
  const curve =
    series.length === 1 ? curveOf(series[0], key) : averageOf(series.map((run) => curveOf(run, key)));
  averages.set(series, (averages.get(series) ?? new Map()).set(key, curve));
  return curve;
}

/** At each step, the mean of the curves that have the step. */
export function averageOf(curves: readonly (readonly CurvePoint[])[]): CurvePoint[] {
  const byStep = new Map<number, number[]>();
  for (const curve of curves)
    for (const { x, y } of curve) {
      const there = byStep.get(x);
      if (there === undefined) byStep.set(x, [y]);
      else there.push(y);
    }
  return [...byStep]
    .sort(([a], [b]) => a - b)
    .map(([x, values]) => {
      const y = mean(values)!;
      const sd = deviation(values);
      return sd === undefined ? { x, y } : { x, y, band: [y - sd, y + sd] };
    });
}

const byStep = bisector(({ x }: CurvePoint) => x);

/** A series' figure as it is read at a step; null: at its last. */
export function readSeries(series: Series, key: ShownFigure["key"], step: number | null): string {
  if (series.length === 1) return readAt(series[0], key, step);
  const curve = seriesCurve(series, key);
  const point = step === null ? curve.at(-1) : curve[byStep.left(curve, step)];
  if (point === undefined || (step !== null && point.x !== step)) return "–";
  const text = numberText(point.y);
  return point.band === undefined ? text : `${text} ± ${numberText(point.band[1] - point.y)}`;
}
