/** A small line chart: d3 scales and curves, drawn by React; series differ by dash and point, not by colour alone. */
import { extent, line, scaleLinear } from "d3";
import { useRef } from "react";
import { trueMinus } from "../format.ts";
import { useSize } from "../use-size.ts";
import { ValueAxis } from "./value-axis.tsx";

export interface Series {
  name: string;
  className: string;
  points: { x: number; y: number }[];
  shape: "circle" | "square" | "triangle";
}

const MARGIN = { left: 46, right: 12, top: 10, bottom: 30 };

const SHAPES: Record<Series["shape"], string> = {
  circle: "M-2.6,0a2.6,2.6 0 1 0 5.2,0a2.6,2.6 0 1 0 -5.2,0",
  square: "M-2.4,-2.4h4.8v4.8h-4.8z",
  triangle: "M0,-3.2L3,2.4h-6z",
};

function paddedExtent(values: number[]): [number, number] {
  const [low, high] = extent(values);
  if (low === undefined || high === undefined) return [0, 1];
  if (low === high) {
    const room = Math.abs(low) * 0.1 || 0.5;
    return [low - room, high + room];
  }
  return [low, high];
}

export function LineChart({
  title,
  xLabel,
  series,
  height = 170,
  marked = null,
  wholeX = false,
}: {
  title: string;
  xLabel: string;
  series: Series[];
  height?: number;
  /** An x to draw a vertical line at. */
  marked?: number | null;
  /** x are whole numbers: no tick between them. */
  wholeX?: boolean;
}) {
  const box = useRef<HTMLElement>(null);
  const { width } = useSize(box);
  const points = series.flatMap((each) => each.points);
  const x = scaleLinear(paddedExtent(points.map((point) => point.x)), [MARGIN.left, width - MARGIN.right]);
  const y = scaleLinear(paddedExtent(points.map((point) => point.y)), [
    height - MARGIN.bottom,
    MARGIN.top,
  ]).nice(4);
  const path = line<{ x: number; y: number }>(
    (point) => x(point.x),
    (point) => y(point.y),
  );
  const ticks = x
    .ticks(Math.max(2, Math.floor(width / 80)))
    .filter((tick) => !wholeX || Number.isInteger(tick));
  const last = series.map(
    ({ name, points: own }) => `${name} ${trueMinus(own.at(-1)?.y.toPrecision(4) ?? "nothing yet")}`,
  );
  return (
    <figure className="chart" ref={box}>
      <figcaption>
        <strong>{title}</strong>
        {series.length > 1 &&
          series.map(({ name, className, shape }) => (
            <span key={name} className="legend">
              <svg width="26" height="10" aria-hidden="true" className={className}>
                <path className="curve" d="M1,5h24" />
                <path className="point" d={SHAPES[shape]} transform="translate(13,5)" />
              </svg>
              {name}
            </span>
          ))}
      </figcaption>
      {width > 0 && (
        <svg width={width} height={height} role="img" aria-label={`${title}: last values ${last.join(", ")}`}>
          <ValueAxis y={y} left={MARGIN.left} right={width - MARGIN.right} />
          {points.length > 0 &&
            ticks.map((tick) => (
              <text key={tick} className="tick-x" x={x(tick)} y={height - 16} textAnchor="middle">
                {tick}
              </text>
            ))}
          <text className="tick-x" x={width - MARGIN.right} y={height - 4} textAnchor="end">
            {xLabel}
          </text>
          {marked !== null && (
            <line
              className="marked"
              x1={x(marked)}
              x2={x(marked)}
              y1={MARGIN.top}
              y2={height - MARGIN.bottom}
            />
          )}
          {series.map(({ name, className, points: own, shape }) => (
            <g key={name} className={className}>
              <path className="curve" d={path(own) ?? ""} />
              {own.length <= 80 &&
                own.map((point) => (
                  <path
                    key={point.x}
                    className="point"
                    d={SHAPES[shape]}
                    transform={`translate(${x(point.x)},${y(point.y)})`}
                  />
                ))}
            </g>
          ))}
        </svg>
      )}
    </figure>
  );
}
