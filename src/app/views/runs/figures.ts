/** The figures that are drawn of a run, in the order in which one reads them. */
import type { RunPoint } from "../../runs/run.ts";

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
  { key: "success", title: "Success of episodes played anew", unit: "share", least: 0 },
];

/** The letter, dash and point of the n-th run on a chart: six that differ without colour. */
export const LETTERS = ["A", "B", "C", "D", "E", "F"] as const;

/** A figure as it is read: four digits. */
export function figureText(point: RunPoint | undefined, key: ShownFigure["key"]): string {
  const value = point?.[key] ?? null;
  if (value === null) return "–";
  if (value === 0) return "0";
  const text =
    Math.abs(value) >= 1e-3 && Math.abs(value) < 1e5 ? value.toPrecision(4) : value.toExponential(2);
  return text.replace("-", "−");
}
