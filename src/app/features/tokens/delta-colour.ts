/**
 * The colours of a token. Light theme: a purple–green ramp, light enough for black text. Dark theme: an unchanged token
 * is as dark as its surroundings and a changed one glows, dark enough for white text.
 */
import { interpolateBlues, interpolateLab, piecewise, rgb, scaleLinear } from "d3";

/** From --down over neutral to --up, both lighter: black text keeps a contrast of at least 4.8 : 1 on it. */
const lightDelta = piecewise(interpolateLab, ["#a876b8", "#eff0ef", "#3a9f84"]);

/** The same three points for the dark theme: white text keeps at least 4.8 : 1 on all between them. */
export const darkDelta = piecewise(interpolateLab, ["#9457b3", "#24282f", "#107d60"]);

/** From nothing to much, in the dark theme. */
export const darkAmount = interpolateLab("#24282f", "#1f6fb2");

/** A CSS colour that follows the theme. */
const themed = (light: string, dark: string): string =>
  `light-dark(${rgb(light).formatHex()}, ${rgb(dark).formatHex()})`;

/** A function from Δ (nats) to a colour; |Δ| ≥ `limit` has the end colours. For pictures, which are light. */
export function deltaColour(limit: number): (delta: number) => string {
  const scale = scaleLinear([-limit, limit], [0, 1]).clamp(true);
  return (delta) => lightDelta(scale(delta));
}

/** As `deltaColour`, in both themes. */
export function themedDelta(limit: number): (delta: number) => string {
  const light = deltaColour(limit);
  const dark = scaleLinear([-limit, limit], [0, 1]).clamp(true);
  return (delta) => themed(light(delta), darkDelta(dark(delta)));
}

/** Where the ramp saturates: the largest |Δ| of the response, at least half a nat so that noise stays pale. */
export function deltaLimit(deltas: ArrayLike<number>): number {
  let most = 0.5;
  for (let i = 0; i < deltas.length; i++) most = Math.max(most, Math.abs(deltas[i]!));
  return most;
}

/** Part of the blue ramp that is used for what has no sign: black text keeps 4.8 : 1 on it too. */
const BLUES = [0.02, 0.6] as const;

/** A function from `low` … `high` to a colour, the stronger the higher; values beyond have the end colours. */
export function amountColour(low: number, high: number): (value: number) => string {
  const scale = scaleLinear([low, high], [BLUES[0], BLUES[1]]).clamp(true);
  return (value) => interpolateBlues(scale(value));
}

/** As `amountColour`, in both themes. */
export function themedAmount(low: number, high: number): (value: number) => string {
  const light = amountColour(low, high);
  const dark = scaleLinear([low, high], [0, 1]).clamp(true);
  return (value) => themed(light(value), darkAmount(dark(value)));
}
