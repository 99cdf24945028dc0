/** Axes around a plot of tokens, and what the pointer does in it: the nearest token is marked in all plots. */
import { type ScaleLinear, scaleLinear } from "d3";
import { type ReactNode, useMemo, useRef } from "react";
import { tickText } from "../../../base/chart/tick-text.ts";
import { SaveMenu } from "../../../base/export/save-menu.tsx";
import { useSize } from "../../../base/use-size.ts";
import { navigate } from "../../../data/navigate.ts";
import { hover } from "../hover.ts";

export const MARGIN = { left: 46, right: 12, top: 10, bottom: 31 };

export interface Scales {
  x: ScaleLinear<number, number>;
  y: ScaleLinear<number, number>;
  width: number;
  height: number;
}

export interface LegendEntry {
  name: string;
  className: string;
  shape: string;
}

/** A domain with room around it; of a single value too. */
export function padded(values: ArrayLike<number>, around: readonly number[] = []): [number, number] {
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  const see = (value: number): void => {
    if (value < low) low = value;
    if (value > high) high = value;
  };
  for (let i = 0; i < values.length; i++) see(values[i]!);
  for (const value of around) see(value);
  if (!(low <= high)) return [0, 1];
  if (low < high) return [low, high];
  const room = Math.abs(low) * 0.1 || 0.5;
  return [low - room, high + room];
}

export function Plot({
  title,
  label,
  xLabel,
  yLabel,
  xDomain,
  yDomain,
  wholeX = false,
  height = 190,
  legend = [],
  tokenAt,
  pinned,
  fileName,
  caption,
  children,
}: {
  title: string;
  /** What a reader of the screen hears of it. */
  label: string;
  xLabel: string;
  yLabel: string;
  xDomain: readonly [number, number];
  yDomain: readonly [number, number];
  /** x are whole numbers: no tick between them. */
  wholeX?: boolean;
  height?: number;
  legend?: readonly LegendEntry[];
  /** The token nearest to a place in pixels. */
  tokenAt: (x: number, y: number, scales: Scales) => number | null;
  pinned: number | null;
  /** Without its ending. */
  fileName: string;
  /** What the figures are of; stands under a saved picture. */
  caption: string;
  children: (scales: Scales) => ReactNode;
}) {
  const box = useRef<HTMLElement>(null);
  const svg = useRef<SVGSVGElement>(null);
  const { width } = useSize(box);
  const [[x0, x1], [y0, y1]] = [xDomain, yDomain];
  // The same object while nothing moves, so that what is drawn with it is not drawn again.
  const scales = useMemo(
    () => ({
      x: scaleLinear([x0, x1], [MARGIN.left, width - MARGIN.right]),
      y: scaleLinear([y0, y1], [height - MARGIN.bottom, MARGIN.top]).nice(4),
      width,
      height,
    }),
    [x0, x1, y0, y1, width, height],
  );
  const { x, y } = scales;
  const xTicks = x
    .ticks(Math.max(2, Math.floor(width / 80)))
    .filter((tick) => !wholeX || Number.isInteger(tick));
  const at = (event: React.MouseEvent): number | null => {
    const { left, top } = svg.current!.getBoundingClientRect();
    return tokenAt(event.clientX - left, event.clientY - top, scales);
  };
  return (
    <figure className="chart plot" ref={box}>
      <figcaption>
        <strong>{title}</strong>
        {legend.map(({ name, className, shape }) => (
          <span key={name} className="legend">
            <svg width="26" height="10" aria-hidden="true" className={className}>
              <path className="curve" d="M1,5h24" />
              <path className="point" d={shape} transform="translate(13,5)" />
            </svg>
            {name}
          </span>
        ))}
        <SaveMenu
          what={title}
          fileName={fileName}
          picture={() => (svg.current === null ? null : { svg: svg.current, title, caption, legend })}
        />
      </figcaption>
      {width > 0 && (
        // biome-ignore lint/a11y/useKeyWithClickEvents: arrow keys go through the same tokens in the strip
        <svg
          ref={svg}
          width={width}
          height={height}
          role="img"
          aria-label={label}
          onMouseMove={(event) => hover(at(event))}
          onMouseLeave={() => hover(null)}
          onClick={(event) => {
            const token = at(event);
            if (token !== null) navigate({ token: token === pinned ? null : token });
          }}
        >
          {y.ticks(4).map((tick) => (
            <g key={tick} className="tick" transform={`translate(0,${y(tick)})`}>
              <line x1={MARGIN.left} x2={width - MARGIN.right} />
              <text x={MARGIN.left - 6} dy="0.32em" textAnchor="end">
                {tickText(y, 4)(tick)}
              </text>
            </g>
          ))}
          {xTicks.map((tick) => (
            <text key={tick} className="tick-x" x={x(tick)} y={height - 17} textAnchor="middle">
              {tickText(x, 5)(tick)}
            </text>
          ))}
          <text className="tick-x" x={width - MARGIN.right} y={height - 3} textAnchor="end">
            {xLabel}
          </text>
          <text className="tick-x" x={2} y={height - 3}>
            ↑ {yLabel}
          </text>
          {children(scales)}
        </svg>
      )}
    </figure>
  );
}
