/** The pinned token and the one under the pointer, in a plot. */
import { useHover } from "../hover.ts";
import { type InUnits, unitOf } from "../units.ts";
import { MARGIN, type Scales } from "./frame.tsx";

/** A line across the plot at both positions. */
export function PositionMarks({
  scales,
  units,
  pinned,
}: {
  scales: Scales;
  units: InUnits;
  pinned: number | null;
}) {
  const hovered = useHover(({ token }) => token);
  const line = (token: number | null, className: string) =>
    token !== null && (
      <line
        className={className}
        x1={scales.x(unitOf(units, token))}
        x2={scales.x(unitOf(units, token))}
        y1={MARGIN.top}
        y2={scales.height - MARGIN.bottom}
      />
    );
  return (
    <g>
      {line(hovered, "marked hovering")}
      {line(pinned, "marked")}
    </g>
  );
}

/** A ring around the points of both. */
export function PointMarks({
  place,
  units,
  pinned,
}: {
  /** Where a unit is drawn, in pixels. */
  place: (unit: number) => readonly [number, number];
  units: InUnits;
  pinned: number | null;
}) {
  const hovered = useHover(({ token }) => token);
  const ring = (token: number | null, className: string) => {
    if (token === null) return null;
    const [cx, cy] = place(unitOf(units, token));
    return <circle className={className} cx={cx} cy={cy} r="6" />;
  };
  return (
    <g>
      {ring(hovered, "ring hovering")}
      {ring(pinned, "ring")}
    </g>
  );
}
