/** The figures that are drawn of a run, in the order in which one reads them. */
import { bisector } from "d3";
import type { Run, RunPoint } from "../../runs/run.ts";

export interface ShownFigure {
  key:
    | "loss"
    | "meanAdvantage"
    | "clipFraction"
    | "rolloutKl"
    | "gradNorm"
    | "tokensPerSecond"
    | "success"
    | "alignment";
  title: string;
  /** Of the figure; empty for a plain number. */
  unit: string;
  /** Its least possible value, below which no axis goes. */
  least?: number;
}

export const SHOWN_FIGURES: readonly ShownFigure[] = [
  { key: "loss", title: "Loss, Eq. (9)", unit: "" },
  { key: "meanAdvantage", title: "Mean advantage", unit: "nats" },
  { key: "clipFraction", title: "Share of clipped tokens", unit: "", least: 0 },
  { key: "rolloutKl", title: "KL to the rollout policy", unit: "nats a token", least: 0 },
  { key: "gradNorm", title: "Gradient norm before clipping", unit: "", least: 0 },
  { key: "alignment", title: "Σ w A log p", unit: "" },
  { key: "tokensPerSecond", title: "Response tokens a second", unit: "", least: 0 },
  { key: "success", title: "Success of episodes played again", unit: "share", least: 0 },
];

/** The letter, dash and point of the n-th run on a chart: six that differ without colour. */
export const LETTERS = ["A", "B", "C", "D", "E", "F"] as const;

/** The outline of a curve's points, 4.8 pixels across. */
export const POINT_SHAPE = "M2.4,0A2.4,2.4,0,1,1,-2.4,0A2.4,2.4,0,1,1,2.4,0Z";

/**
 * Where the letters at the ends of curves stand, in pixels from the top: in the curves' order, so far apart that none
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

/** A run's figures at a step; null: at its last. */
export const pointAt = ({ figures: { points } }: Run, step: number | null): RunPoint | undefined =>
  step === null ? points.at(-1) : pointOf(points, step);

const byStep = bisector((point: RunPoint) => point.step).left;

/** The point of a step, among points whose steps rise. */
function pointOf(points: readonly RunPoint[], step: number): RunPoint | undefined {
  const found = points[byStep(points, step)];
  return found?.step === step ? found : undefined;
}

/** A figure as it is read: four digits. */
export function figureText(point: RunPoint | undefined, key: ShownFigure["key"]): string {
  const value = point?.[key] ?? null;
  if (value === null) return "–";
  if (value === 0) return "0";
  const text =
    Math.abs(value) >= 1e-3 && Math.abs(value) < 1e5 ? value.toPrecision(4) : value.toExponential(2);
  return text.replace("-", "−");
}
