/** The evidence test as bars: one per context, with its interval, from no evidence to the full graph. */
import { scaleBand, scaleLinear } from "d3";
import type { Ref } from "react";
import type { GateSummary } from "../../../core/gate/index.ts";
import { CONTEXT_TITLES, share } from "./gate-words.ts";

const WIDTH = 640;
const ROW = 34;
const MARGIN = { left: 138, right: 150, top: 4, bottom: 24 };

export function GateChart({ summary, ref }: { summary: GateSummary; ref: Ref<SVGSVGElement> }) {
  const { contexts } = summary;
  const height = MARGIN.top + ROW * contexts.length + MARGIN.bottom;
  const x = scaleLinear([0, 1], [MARGIN.left, WIDTH - MARGIN.right]);
  const y = scaleBand(
    contexts.map(({ context }) => context),
    [MARGIN.top, height - MARGIN.bottom],
  ).padding(0.35);
  const figures = contexts.map(({ context, optimal: { value, interval } }) => ({
    context,
    value: value ?? 0,
    interval,
    text: `${share(value ?? 0)}${interval === null ? "" : ` [${share(interval[0])}, ${share(interval[1])}]`}`,
  }));
  const spoken = figures.map(({ context, text }) => `${CONTEXT_TITLES[context]}: ${text}`).join("; ");
  return (
    <svg
      ref={ref}
      className="gate-chart"
      width={WIDTH}
      height={height}
      viewBox={`0 0 ${WIDTH} ${height}`}
      role="img"
      aria-label={`Probability of an optimal action. ${spoken}`}
    >
      {[0, 0.25, 0.5, 0.75, 1].map((tick) => (
        <g key={tick}>
          <line className="grid" x1={x(tick)} x2={x(tick)} y1={MARGIN.top} y2={height - MARGIN.bottom} />
          <text x={x(tick)} y={height - 8} textAnchor="middle">
            {tick}
          </text>
        </g>
      ))}
      {figures.map(({ context, value, interval, text }) => {
        const middle = y.bandwidth() / 2;
        return (
          <g key={context} className={`control-${context}`} transform={`translate(0,${y(context)})`}>
            <text x={MARGIN.left - 8} y={middle} dy="0.35em" textAnchor="end">
              {CONTEXT_TITLES[context]}
            </text>
            <rect className="point" x={x(0)} width={Math.max(0, x(value) - x(0))} height={y.bandwidth()} />
            {interval !== null && (
              <>
                <line
                  className="whisker-halo"
                  x1={x(interval[0])}
                  x2={x(interval[1])}
                  y1={middle}
                  y2={middle}
                />
                <path
                  className="whisker"
                  d={`M${x(interval[0])} ${middle - 5}v10m0-5H${x(interval[1])}m0-5v10`}
                />
              </>
            )}
            <text className="gate-value" x={WIDTH - MARGIN.right + 12} y={middle} dy="0.35em">
              {text}
            </text>
          </g>
        );
      })}
    </svg>
  );
}
