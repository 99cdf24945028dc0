/** Shares as bars, one group for each name: d3 scales, drawn by React. The tables beside it hold the same figures. */
import { scaleBand, scaleLinear } from "d3";
import { useRef } from "react";
import { useSize } from "../../base/use-size.ts";

export interface BarSeries {
  name: string;
  className: string;
  /** One share in [0, 1] for each group. */
  values: number[];
}

const HEIGHT = 150;
const MARGIN = { left: 38, right: 4, top: 14, bottom: 20 };

export function BarChart({
  title,
  groups,
  series,
}: {
  title: string;
  groups: string[];
  series: BarSeries[];
}) {
  const box = useRef<HTMLElement>(null);
  const { width } = useSize(box);
  const places = groups.map((_, i) => String(i));
  const x = scaleBand(places, [MARGIN.left, Math.max(MARGIN.left, width - MARGIN.right)]).padding(0.2);
  const inner = scaleBand(
    series.map(({ name }) => name),
    [0, x.bandwidth()],
  ).padding(0.08);
  const y = scaleLinear([0, 1], [HEIGHT - MARGIN.bottom, MARGIN.top]);
  const spoken = groups.map(
    (group, i) =>
      `${group}: ${series.map(({ name, values }) => `${name} ${Math.round(100 * values[i]!)} %`).join(", ")}`,
  );
  return (
    <figure className="bar-chart" ref={box}>
      <figcaption>
        {title}
        {series.length > 1 &&
          series.map(({ name, className }) => (
            <span key={name} className="note">
              <svg width="10" height="10" aria-hidden="true">
                <rect width="10" height="10" className={className} />
              </svg>{" "}
              {name}
            </span>
          ))}
      </figcaption>
      <svg width={width} height={HEIGHT} role="img" aria-label={`${title}. ${spoken.join("; ")}`}>
        {[0, 0.5, 1].map((tick) => (
          <g key={tick}>
            <line className="grid" x1={MARGIN.left} x2={width} y1={y(tick)} y2={y(tick)} />
            <text x={MARGIN.left - 4} y={y(tick)} dy="0.35em" textAnchor="end">
              {100 * tick} %
            </text>
          </g>
        ))}
        {groups.map((group, i) => (
          <g key={group} transform={`translate(${x(places[i]!)},0)`}>
            {series.map(({ name, className, values }) => {
              const value = values[i]!;
              return (
                <g key={name}>
                  <rect
                    className={className}
                    x={inner(name)}
                    width={inner.bandwidth()}
                    y={y(value)}
                    height={y(0) - y(value)}
                  />
                  <text x={inner(name)! + inner.bandwidth() / 2} y={y(value) - 3} textAnchor="middle">
                    {Math.round(100 * value)}
                  </text>
                </g>
              );
            })}
            <text x={x.bandwidth() / 2} y={HEIGHT - 6} textAnchor="middle">
              {group}
            </text>
          </g>
        ))}
      </svg>
    </figure>
  );
}
