/** How the ticks of an axis are written. */
import type { ScaleLinear } from "d3";

/** With an exponent where all are small: there is no room for many zeros beside a chart. */
export function tickText(scale: ScaleLinear<number, number>, count: number): (tick: number) => string {
  const largest = Math.max(...scale.domain().map(Math.abs));
  return scale.tickFormat(count, largest < 1e-3 ? "e" : undefined);
}
