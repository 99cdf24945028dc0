/** Shares in 0 … 1 against a property of the library: a line per series with its name at its end. */
import { scaleLinear } from "d3";
import type { Ref } from "react";
import type { Estimate } from "../../../core/statistics/index.ts";
import { share } from "./gate-words.ts";

export interface SweepSeries {
  name: string;
  /** Class of its colour. */
  kind: string;
  points: { at: number; estimate: Estimate }[];
}

/** Where points lie on the axis, 0 to 1, with what is written there. */
export interface SweepAxis {
  title: string;
  ticks: { at: number; text: string }[];
  /** A point's place in words. */
  spoken(at: number): string;
}

const WIDTH = 460;
const HEIGHT = 220;
const MARGIN = { left: 40, right: 104, top: 10, bottom: 32 };
/** Between two names. */
const LINE = 13;

export function SweepChart({
  title,
  axis,
  series,
  ref,
}: {
  title: string;
  axis: SweepAxis;
  series: readonly SweepSeries[];
  ref: Ref<SVGSVGElement>;
}) {
  const x = scaleLinear([0, 1], [MARGIN.left + 8, WIDTH - MARGIN.right]);
  const y = scaleLinear([0, 1], [HEIGHT - MARGIN.bottom, MARGIN.top]);
  const shown = series.filter(({ points }) => points.length > 0);
  const spoken = shown.map(
    ({ name, points }) =>
      `${name}: ${points.map(({ at, estimate: { value } }) => `${axis.spoken(at)} ${share(value ?? 0)}`).join(", ")}`,
  );
  const ends = shown
    .map(({ name, kind, points }) => ({ name, kind, at: y(points.at(-1)!.estimate.value ?? 0) }))
    .sort((a, b) => a.at - b.at);
  ends.forEach((end, n) => {
    if (n > 0) end.at = Math.max(end.at, ends[n - 1]!.at + LINE);
  });
  return (
    <svg
      ref={ref}
      className="sweep-chart"
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      width={WIDTH}
      height={HEIGHT}
      role="img"
      aria-label={`${title}. ${spoken.length === 0 ? "Nothing yet" : spoken.join("; ")}`}
    >
      {y.ticks(4).map((tick) => (
        <g key={tick}>
          <line className="grid" x1={MARGIN.left} x2={WIDTH - MARGIN.right + 6} y1={y(tick)} y2={y(tick)} />
          <text x={MARGIN.left - 6} y={y(tick)} dy="0.35em" textAnchor="end">
            {tick}
          </text>
        </g>
      ))}
      {axis.ticks.map(({ at, text }) => (
        <text key={text} x={x(at)} y={HEIGHT - MARGIN.bottom + 14} textAnchor="middle">
          {text}
        </text>
      ))}
      <text x={WIDTH - MARGIN.right} y={HEIGHT - 4} textAnchor="end">
        {axis.title}
      </text>
      {shown.map(({ name, kind, points }) => (
        <g key={name} className={kind}>
          <path
            className="curve"
            d={points
              .map(({ at, estimate }, n) => `${n === 0 ? "M" : "L"}${x(at)} ${y(estimate.value ?? 0)}`)
              .join("")}
          />
          {points.map(({ at, estimate: { value, interval } }) => (
            <g key={at}>
              {interval !== null && (
                <line className="interval" x1={x(at)} x2={x(at)} y1={y(interval[0])} y2={y(interval[1])} />
              )}
              <circle className="point" cx={x(at)} cy={y(value ?? 0)} r={3} />
            </g>
          ))}
        </g>
      ))}
      {ends.map(({ name, kind, at }) => (
        <text key={name} className={`name ${kind}`} x={WIDTH - MARGIN.right + 10} y={at} dy="0.35em">
          {name}
        </text>
      ))}
    </svg>
  );
}
