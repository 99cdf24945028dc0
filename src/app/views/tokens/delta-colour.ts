/** The colour of a token: Δ on a zero-centred purple–orange ramp, kept light enough for black text. */
import { interpolateBlues, interpolatePuOr, scaleLinear } from "d3";

/** Part of the ramp that is used: black text keeps a contrast of at least 4.8 : 1 on it. */
export const RAMP = [0.2, 0.85] as const;

/** A function from Δ (nats) to a colour; |Δ| ≥ `limit` has the end colours. */
export function deltaColour(limit: number): (delta: number) => string {
  const scale = scaleLinear([-limit, 0, limit], [RAMP[0], 0.5, RAMP[1]]).clamp(true);
  return (delta) => interpolatePuOr(scale(delta));
}

/** Where the ramp saturates: the largest |Δ| of the response, at least half a nat so that noise stays pale. */
export function deltaLimit(deltas: ArrayLike<number>): number {
  let most = 0.5;
  for (let i = 0; i < deltas.length; i++) most = Math.max(most, Math.abs(deltas[i]!));
  return most;
}

/** Part of the blue ramp that is used for what has no sign: black text keeps 4.8 : 1 on it too. */
export const BLUES = [0.02, 0.6] as const;

/** A function from `low` … `high` to a colour, the darker the higher; values beyond have the end colours. */
export function amountColour(low: number, high: number): (value: number) => string {
  const scale = scaleLinear([low, high], [BLUES[0], BLUES[1]]).clamp(true);
  return (value) => interpolateBlues(scale(value));
}
