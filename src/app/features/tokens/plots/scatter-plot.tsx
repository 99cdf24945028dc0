/** Each token’s log p under the two compared sides: above the diagonal the compared side gives it more. */
import { memo } from "react";
import { type InUnits, UNIT_NAMES } from "../units.ts";
import { Plot, padded, type Scales } from "./frame.tsx";
import { PointMarks } from "./marks.tsx";

/** Farther than this from any token, the pointer is at none. */
const REACH = 14;

const Points = memo(function Points({
  xs,
  ys,
  scales: { x, y },
}: {
  xs: ArrayLike<number>;
  ys: ArrayLike<number>;
  scales: Scales;
}) {
  return Array.from(xs, (value, i) => (
    <circle
      // biome-ignore lint/suspicious/noArrayIndexKey: the index is what the token is
      key={i}
      className="spot"
      cx={x(value).toFixed(2)}
      cy={y(ys[i]!).toFixed(2)}
      r="3"
    />
  ));
});

export function ScatterPlot({
  units,
  pinned,
  fileName,
  caption,
}: {
  units: InUnits;
  pinned: number | null;
  fileName: string;
  caption: string;
}) {
  const { base, side } = units.compared;
  const [xs, ys] = [base.logprobs, side.logprobs];
  const domain = padded([...padded(xs, [0]), ...padded(ys, [0])]);
  const nearest = (px: number, py: number, { x, y }: Scales): number | null => {
    let [best, distance] = [null as number | null, REACH];
    for (let i = 0; i < xs.length; i++) {
      const away = Math.hypot(x(xs[i]!) - px, y(ys[i]!) - py);
      if (away < distance) [best, distance] = [units.leads[i]!, away];
    }
    return best;
  };
  return (
    <Plot
      title="Side against base"
      label={`Each ${UNIT_NAMES[units.unit]}’s log p: across, ${base.label}; up, ${side.label}`}
      xLabel={`log p ${base.label}`}
      yLabel={`log p ${side.label}`}
      xDomain={domain}
      yDomain={domain}
      tokenAt={nearest}
      pinned={pinned}
      fileName={`${fileName}-scatter`}
      caption={caption}
    >
      {(scales) => (
        <>
          <line
            className="zero"
            x1={scales.x(domain[0])}
            y1={scales.y(domain[0])}
            x2={scales.x(domain[1])}
            y2={scales.y(domain[1])}
          />
          <Points xs={xs} ys={ys} scales={scales} />
          <PointMarks
            place={(unit) => [scales.x(xs[unit]!), scales.y(ys[unit]!)]}
            units={units}
            pinned={pinned}
          />
        </>
      )}
    </Plot>
  );
}
