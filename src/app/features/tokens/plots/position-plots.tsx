/** log p of every side against the position, and Δ added up along the response. */
import { line } from "d3";
import { memo, useMemo } from "react";
import { nats } from "../../../base/format.ts";
import { type InUnits, UNIT_NAMES } from "../units.ts";
import { type LegendEntry, Plot, padded, type Scales } from "./frame.tsx";
import { PositionMarks } from "./marks.tsx";

const SHAPES = [
  "M-2.4,-2.4h4.8v4.8h-4.8z",
  "M-2.6,0a2.6,2.6 0 1 0 5.2,0a2.6,2.6 0 1 0 -5.2,0",
  "M0,-3.2L3,2.4h-6z",
  "M0,-3.4L3.4,0L0,3.4L-3.4,0z",
  "M-3,-0.8h2.2v-2.2h1.6v2.2h2.2v1.6h-2.2v2.2h-1.6v-2.2h-2.2z",
];

/** Points are drawn up to so many tokens: beyond that they hide the lines. */
const MOST_POINTS = 80;

/** How a side's curve looks: the standard ones by name, further ones in turn; each with a dash and a point of its own. */
export function curveOf(key: string, at: number): { className: string; shape: string } {
  const standard = ["vanilla", "graph", "student"].indexOf(key);
  if (standard >= 0) return { className: key, shape: SHAPES[standard]! };
  return { className: `further further-${at % 4}`, shape: SHAPES[3 + (at % 2)]! };
}

interface Curve extends LegendEntry {
  key: string;
  values: ArrayLike<number>;
}

/** The token of the nearest position on the x axis. */
function nearestPosition({ leads }: InUnits) {
  return (px: number, _: number, { x }: Scales): number | null => leads[Math.round(x.invert(px))] ?? null;
}

const Curves = memo(function Curves({ curves, scales }: { curves: readonly Curve[]; scales: Scales }) {
  const { x, y } = scales;
  const path = line<number>(
    (_, i) => x(i),
    (value) => y(value),
  );
  return (
    <>
      {curves.map(({ key, className, shape, values }) => (
        <g key={key} className={className}>
          <path className="curve" d={path(Array.from(values)) ?? ""} />
          {values.length <= MOST_POINTS &&
            Array.from(values, (value, i) => (
              <path
                // biome-ignore lint/suspicious/noArrayIndexKey: the index is what the token is
                key={i}
                className="point"
                d={shape}
                transform={`translate(${x(i).toFixed(2)},${y(value).toFixed(2)})`}
              />
            ))}
        </g>
      ))}
    </>
  );
});

interface Shown {
  units: InUnits;
  pinned: number | null;
  /** Names the decision, for files. */
  fileName: string;
  caption: string;
}

export function LogProbabilityPlot({ units, pinned, fileName, caption }: Shown) {
  const { columns } = units.compared;
  const curves = useMemo(
    () =>
      columns.map(({ key, label, logprobs }, at): Curve => {
        return { key, name: label, values: logprobs, ...curveOf(key, at) };
      }),
    [columns],
  );
  const domain = useMemo(() => {
    const ends = curves.flatMap(({ values }) => padded(values, [0]));
    return padded(ends);
  }, [curves]);
  return (
    <Plot
      title="log p by position"
      label={`log p by position: ${columns.map(({ label }) => label).join(", ")}`}
      xLabel={UNIT_NAMES[units.unit]}
      yLabel="log p"
      xDomain={[0, Math.max(1, units.ranges.length - 1)]}
      yDomain={domain}
      wholeX
      legend={curves}
      tokenAt={nearestPosition(units)}
      pinned={pinned}
      fileName={`${fileName}-logp`}
      caption={caption}
    >
      {(scales) => (
        <>
          <Curves curves={curves} scales={scales} />
          <PositionMarks scales={scales} units={units} pinned={pinned} />
        </>
      )}
    </Plot>
  );
}

/** Σ Δ of the tokens up to each. */
export function CumulativePlot({
  units,
  deltas,
  pinned,
  fileName,
  caption,
}: Shown & { deltas: Float32Array }) {
  const curves = useMemo((): Curve[] => {
    let sum = 0;
    const values = Float64Array.from(deltas, (delta) => {
      sum += delta;
      return sum;
    });
    return [{ key: "sum", name: "Σ Δ", values, className: "graph", shape: SHAPES[1]! }];
  }, [deltas]);
  const { values } = curves[0]!;
  return (
    <Plot
      title="Cumulative Δ"
      label={`Cumulative Δ by position: ${nats(values[values.length - 1] ?? 0, true)} nats at the end`}
      xLabel={UNIT_NAMES[units.unit]}
      yLabel="Σ Δ, nats"
      xDomain={[0, Math.max(1, deltas.length - 1)]}
      yDomain={padded(values, [0])}
      wholeX
      tokenAt={nearestPosition(units)}
      pinned={pinned}
      fileName={`${fileName}-cumulative`}
      caption={caption}
    >
      {(scales) => (
        <>
          <line
            className="zero"
            x1={scales.x.range()[0]}
            x2={scales.x.range()[1]}
            y1={scales.y(0)}
            y2={scales.y(0)}
          />
          <Curves curves={curves} scales={scales} />
          <PositionMarks scales={scales} units={units} pinned={pinned} />
        </>
      )}
    </Plot>
  );
}
