/** Charts that have nothing to say, and why. */

import { numberText, type ShownFigure } from "../figures.ts";
import type { Series } from "../series.ts";
import { seriesCurve } from "../series.ts";

/** Figures whose absence is what one expects; a loss or a success of 0 is worth a chart. */
const EXPECTED_ZERO: readonly ShownFigure["key"][] = ["clipFraction", "rolloutKl"];
/** Below this, in nats, a divergence is the rounding of f32. */
const ROUNDING = 1e-6;
/** So far, relative to the largest loss, may an advantage be from the loss that it mirrors. */
const MIRRORED = 1e-3;

/** Why a figure's chart can stay folded, as the end of a sentence; null where it has something to say. */
export function quietReason(key: ShownFigure["key"], all: readonly Series[]): string | null {
  const curves = all.map((series) => seriesCurve(series, key));
  const values = curves.flat().map(({ y }) => y);
  if (values.length === 0) return "no value yet";
  if (EXPECTED_ZERO.includes(key)) {
    // p_old is the student itself then, and both are 0 by construction.
    const isOwn = all
      .flat()
      .every(({ figures }) => figures.points.every((point) => point.rolloutPolicy === "current"));
    if (isOwn) return "not measured: the episodes carry no rollout log-probabilities";
    const largest = values.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
    if (largest === 0) return "0 at every step";
    return largest < ROUNDING ? `at most ${numberText(largest)} at every step: rounding` : null;
  }
  if (key !== "meanAdvantage") return null;
  const losses = all.map((series) => seriesCurve(series, "loss"));
  const scale = losses.flat().reduce((most, { y }) => Math.max(most, Math.abs(y)), 0);
  const mirrors = curves.every((curve, n) =>
    curve.every(({ x, y }, i) => {
      const loss = losses[n]![i];
      return loss?.x === x && Math.abs(y + loss.y) <= MIRRORED * scale;
    }),
  );
  return mirrors ? "the loss with its sign turned" : null;
}
