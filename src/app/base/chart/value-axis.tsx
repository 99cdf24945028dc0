import type { ScaleLinear } from "d3";
import { tickText } from "./tick-text.ts";

/** The lines across a chart at round values of y, each with its value at the left. `left`, `right`: their ends, in pixels. */
export function ValueAxis({
  y,
  left,
  right,
}: {
  y: ScaleLinear<number, number>;
  left: number;
  right: number;
}) {
  return y.ticks(4).map((tick) => (
    <g key={tick} className="tick" transform={`translate(0,${y(tick)})`}>
      <line x1={left} x2={right} />
      <text x={left - 6} dy="0.32em" textAnchor="end">
        {tickText(y, 4)(tick)}
      </text>
    </g>
  ));
}
