/** The pinned token and the one under the pointer, in a plot. */
import { useHover } from "../hover.ts";
import { MARGIN, type Scales } from "./frame.tsx";

/** A line across the plot at both positions. */
export function PositionMarks({ scales, pinned }: { scales: Scales; pinned: number | null }) {
  const hovered = useHover(({ token }) => token);
  const line = (token: number | null, className: string) =>
    token !== null && (
      <line
        className={className}
        x1={scales.x(token)}
        x2={scales.x(token)}
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
  pinned,
}: {
  /** Where a token is drawn, in pixels. */
  place: (token: number) => readonly [number, number];
  pinned: number | null;
}) {
  const hovered = useHover(({ token }) => token);
  const ring = (token: number | null, className: string) => {
    if (token === null) return null;
    const [cx, cy] = place(token);
    return <circle className={className} cx={cx} cy={cy} r="6" />;
  };
  return (
    <g>
      {ring(hovered, "ring hovering")}
      {ring(pinned, "ring")}
    </g>
  );
}
