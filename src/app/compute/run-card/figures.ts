/** The figures that are drawn of a run, in the order in which one reads them. */
import { bisector } from "d3";
import type { Interval, Spread } from "../../../core/evaluation/index.ts";
import type { XY } from "../../base/chart/decimate.ts";
import { trueMinus } from "../../base/format.ts";
import type { Run, RunEvaluation, RunPoint } from "../runs/run.ts";

/** "12.5 to 50.0". */
export const intervalText = (interval: Interval | null): string =>
  interval === null ? "–" : interval.map((end) => trueMinus(end.toFixed(1))).join(" to ");

export interface ShownFigure {
  key:
    | "loss"
    | "meanAdvantage"
    | "clipFraction"
    | "rolloutKl"
    | "gradNorm"
    | "tokensPerSecond"
    | "success"
    | "alignment"
    | "evaluatedSr";
  title: string;
  /** Unit of the figure; empty for a plain number. */
  unit: string;
  /** Its least possible value, below which no axis goes. */
  least?: number;
  /** What the bars at its points are; absent where there are none. */
  bars?: string;
}

export const SHOWN_FIGURES: readonly ShownFigure[] = [
  { key: "loss", title: "Loss, Eq. (9)", unit: "" },
  { key: "meanAdvantage", title: "Mean advantage", unit: "nats" },
  { key: "clipFraction", title: "Share of clipped tokens", unit: "", least: 0 },
  { key: "rolloutKl", title: "KL to the rollout policy", unit: "nats per token", least: 0 },
  { key: "gradNorm", title: "Gradient norm before clipping", unit: "", least: 0 },
  { key: "alignment", title: "Σ w A log p", unit: "" },
  { key: "tokensPerSecond", title: "Response tokens per second", unit: "", least: 0 },
  { key: "success", title: "Success rate of rollouts", unit: "share", least: 0 },
  {
    ...{ key: "evaluatedSr", title: "Success rate on the evaluation’s tasks", unit: "%", least: 0 },
    bars: "bars: 95 % interval over tasks; ± SD over seeds",
  },
];

/** The outline of a curve's points, 4.8 pixels across. */
export const POINT_SHAPE = "M2.4,0A2.4,2.4,0,1,1,-2.4,0A2.4,2.4,0,1,1,2.4,0Z";

/**
 * Where the numbers at the ends of curves stand, in pixels from the top: in the curves' order, so far apart that none
 * covers another, and none below `lowest` while there is room above it.
 */
export function spread(ends: readonly number[], apart: number, lowest: number): number[] {
  const placed = [...ends];
  const order = ends.map((_, i) => i).sort((a, b) => ends[a]! - ends[b]! || a - b);
  for (const [n, i] of order.entries()) {
    const above = order[n - 1];
    if (above !== undefined) placed[i] = Math.max(placed[i]!, placed[above]! + apart);
  }
  let limit = lowest;
  for (const i of order.reverse()) {
    placed[i] = Math.min(placed[i]!, limit);
    limit = placed[i] - apart;
  }
  return placed;
}

/** A point of a curve, with the ends of its bar, or of the spread of its runs, where it has them. */
export interface CurvePoint extends XY {
  bar?: readonly [low: number, high: number];
  band?: readonly [low: number, high: number];
}

/** The curve of a figure, by rising step; steps without a number have no point. */
export function curveOf({ figures }: Run, key: ShownFigure["key"]): CurvePoint[] {
  if (key === "evaluatedSr")
    return figures.evaluations.map(({ step, sr, sr_interval: bar }) => ({
      x: step,
      y: sr.mean,
      ...(bar === null ? {} : { bar }),
    }));
  return figures.points.flatMap(({ step, [key]: y }) =>
    y === null || !Number.isFinite(y) ? [] : [{ x: step, y }],
  );
}

const stepOf = ({ step }: { step: number }): number => step;
const byStep = bisector(stepOf);

/** A run's figure as it is read at a step; null: at its last. Of evaluations, the last one up to the step counts. */
export function readAt({ figures }: Run, key: ShownFigure["key"], step: number | null): string {
  if (key === "evaluatedSr") return evaluationText(upTo(figures.evaluations, step));
  const point = upTo(figures.points, step);
  return figureText(step === null || point?.step === step ? point : undefined, key);
}

/** The last of some that rise by step, up to one. */
function upTo<T extends { step: number }>(all: readonly T[], step: number | null): T | undefined {
  return step === null ? all.at(-1) : all[byStep.right(all, step) - 1];
}

function evaluationText(evaluation: RunEvaluation | undefined): string {
  return evaluation === undefined ? "–" : spreadText(evaluation.sr);
}

/** "62.5 ± 4.1": the mean and, where there are several seeds, the standard deviation over them. */
export function spreadText({ mean, sd }: Spread): string {
  return sd === null ? mean.toFixed(1) : `${mean.toFixed(1)} ± ${sd.toFixed(1)}`;
}

/** A figure as it is read. */
export function figureText(
  point: RunPoint | undefined,
  key: Exclude<ShownFigure["key"], "evaluatedSr">,
): string {
  const value = point?.[key] ?? null;
  return value === null ? "–" : numberText(value);
}

/** A number with four digits. */
export function numberText(value: number): string {
  if (value === 0) return "0";
  const text =
    Math.abs(value) >= 1e-3 && Math.abs(value) < 1e5 ? value.toPrecision(4) : value.toExponential(2);
  return trueMinus(text);
}
