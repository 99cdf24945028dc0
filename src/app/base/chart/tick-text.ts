/** How the ticks of an axis are written. */
import type { ScaleLinear } from "d3";
import { trueMinus } from "../format.ts";

/** With an exponent where all are small: there is no room for many zeros beside a chart. */
export function tickText(scale: ScaleLinear<number, number>, count: number): (tick: number) => string {
  const largest = Math.max(...scale.domain().map(Math.abs));
  const small = largest < 1e-3;
  const format = scale.tickFormat(count, small ? "e" : undefined);
  return (tick) => (small && tick === 0 ? "0" : trueMinus(format(tick)));
}
