/** One figure of several runs by step: letters, dashes and points tell them apart, one crosshair goes through all. */
import { line, scaleLinear } from "d3";
import { memo, useDeferredValue, useMemo, useRef } from "react";
import type { Run } from "../../runs/run.ts";
import { shownName } from "../../text/shown-text.ts";
import { decimate, type XY } from "../chart/decimate.ts";
import { tickText } from "../chart/tick-text.ts";
import { useSize } from "../task/use-size.ts";
import { curveOf, LETTERS, POINT_SHAPE, readAt, type ShownFigure, spread } from "./figures.ts";

const MARGIN = { left: 52, right: 14, top: 10, bottom: 24 };
const HEIGHT = 150;

/** The runs on a chart, by their letters. */
export interface Charted {
  run: Run;
  letter: number;
}

/** The span of an axis: of one value, some room about it, but none below what the figure can be. */
function padded(low: number, high: number, least = Number.NEGATIVE_INFINITY): [number, number] {
  if (low > high) return [0, 1];
  if (low !== high) return [low, high];
  const room = Math.abs(low) * 0.1 || 0.5;
  return [Math.max(least, low - room), high + room];
}

/** The curves and their scales. Curves of more steps than pixels are drawn from fewer points, and read from all. */
function drawn(
  runs: readonly Charted[],
  { key, least }: Pick<ShownFigure, "key" | "least">,
  steps: [number, number],
  width: number,
  takenBack: number | null,
) {
  const x = scaleLinear(padded(...steps), [MARGIN.left, Math.max(MARGIN.left + 1, width - MARGIN.right)]);
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  const all = runs.map(({ run, letter }) => {
    const points = curveOf(run, key);
    for (const { y, bar = [y, y] } of points) {
      low = Math.min(low, bar[0]);
      high = Math.max(high, bar[1]);
    }
    return { run, letter, points };
  });
  const y = scaleLinear(padded(low, high, least), [HEIGHT - MARGIN.bottom, MARGIN.top]).nice(4);
  const lines = line<XY>(
    (point) => x(point.x),
    (point) => y(point.y),
  );
  const path = (points: readonly XY[]): string => lines(decimate(points, width, x)) ?? "";
  const series = all.map((each) => {
    const { points } = each;
    const kept = takenBack === null ? points : points.filter((point) => point.x <= takenBack);
    // From the last step that is left on, so that the curve has no gap.
    const gone = points.slice(Math.max(0, kept.length - 1));
    const gonePath = kept.length < points.length ? path(gone) : null;
    return { ...each, kept, path: path(kept), gonePath };
  });
  return { series, x, y };
}

/** What a step of the crosshair leaves alone: axes, marks and curves. */
const Curves = memo(function Curves({
  runs,
  drawing: { series, x, y },
  width,
}: {
  runs: readonly Charted[];
  drawing: ReturnType<typeof drawn>;
  width: number;
}) {
  const ticks = x.ticks(Math.max(2, Math.floor(width / 70))).filter(Number.isInteger);
  // Marks are only ever added, so that their number in a run is what they are known by.
  const marks = runs.flatMap(({ run, letter }) =>
    run.figures.marks.map((mark, n) => ({ id: `${run.id} ${n}`, letter, mark })),
  );
  const letters = spread(
    series.map(({ points }) => y(points.at(-1)?.y ?? 0)),
    10,
    HEIGHT - MARGIN.bottom,
  );
  return (
    <>
      {y.ticks(4).map((tick) => (
        <g key={tick} className="tick" transform={`translate(0,${y(tick)})`}>
          <line x1={MARGIN.left} x2={width - MARGIN.right} />
          <text x={MARGIN.left - 6} dy="0.32em" textAnchor="end">
            {tickText(y, 4)(tick)}
          </text>
        </g>
      ))}
      <text className="tick-x" x={4} y={HEIGHT - 8}>
        step
      </text>
      {ticks.map((tick) => (
        <text key={tick} className="tick-x" x={x(tick)} y={HEIGHT - 8} textAnchor="middle">
          {tick}
        </text>
      ))}
      {marks.map(({ id, letter, mark }) => (
        <line
          key={id}
          className={`run-mark ${mark.kind}`}
          x1={x(mark.step + 0.5)}
          x2={x(mark.step + 0.5)}
          y1={MARGIN.top}
          y2={HEIGHT - MARGIN.bottom}
        >
          <title>{`${LETTERS[letter]}, after step ${mark.step}: ${shownName(mark.text, 500)}`}</title>
        </line>
      ))}
      {series.map(({ run, letter, points, kept, path, gonePath }, i) => {
        const last = points.at(-1);
        return (
          <g key={run.id} className={`run-series run-${letter}`}>
            <path className="curve" d={path} />
            {gonePath !== null && (
              <path className="curve taken-back" d={gonePath}>
                <title>Taken back: the student has no longer these steps</title>
              </path>
            )}
            {points.map(
              ({ x: step, bar }) =>
                bar !== undefined && (
                  <line key={step} className="bar" x1={x(step)} x2={x(step)} y1={y(bar[0])} y2={y(bar[1])} />
                ),
            )}
            {points.length <= 40 &&
              points.map((point, n) => (
                <path
                  key={point.x}
                  className={n < kept.length ? "point" : "point taken-back"}
                  d={POINT_SHAPE}
                  transform={`translate(${x(point.x)},${y(point.y)})`}
                />
              ))}
            {last !== undefined && runs.length > 1 && (
              <text className="run-letter" x={x(last.x) + 4} y={letters[i]} dy="0.32em">
                {LETTERS[letter]}
              </text>
            )}
          </g>
        );
      })}
    </>
  );
});

export function RunChart({
  figure,
  runs,
  from,
  to,
  step,
  takenBack = null,
  onStep,
}: {
  figure: ShownFigure;
  runs: readonly Charted[];
  /** The first and the last step of all charts, so that they line up. */
  from: number;
  to: number;
  /** The step that is read; null reads the last of each run. */
  step: number | null;
  /** Steps after this one were taken back: they are drawn paler. */
  takenBack?: number | null;
  onStep: (step: number | null) => void;
}) {
  const box = useRef<HTMLElement>(null);
  // Deferred: charts of long runs are drawn one after the other, and a key pressed meanwhile is heard at once.
  const width = useDeferredValue(useSize(box).width);
  const { key, title, unit, least, bars } = figure;
  // A hover reads another step of the same curves.
  const drawing = useMemo(
    () => (width === 0 ? null : drawn(runs, { key, least }, [from, to], width, takenBack)),
    [runs, key, least, from, to, width, takenBack],
  );
  const read = runs.map(({ run, letter }) => ({
    id: run.id,
    letter,
    text: readAt(run, key, step),
  }));
  const said = read.map(({ letter, text }) => `${LETTERS[letter]} ${text}`).join(", ");
  return (
    <figure className="panel run-chart" ref={box}>
      <figcaption>
        <strong>{title}</strong>
        {unit !== "" && <span className="note">{unit}</span>}
        {bars !== undefined && <span className="note">{bars}</span>}
        <span className="run-readout">
          {read.map(({ id, letter, text }) => (
            <span key={id} className={`run-series run-${letter}`}>
              <b>{LETTERS[letter]}</b> {text}
            </span>
          ))}
        </span>
      </figcaption>
      <div className="run-plot" style={{ height: HEIGHT }}>
        {drawing !== null && (
          <svg
            width={width}
            height={HEIGHT}
            role="img"
            aria-label={`${title} at ${step === null ? "the last step" : `step ${step}`}: ${said}`}
            data-figure={key}
            onPointerMove={(event) => {
              const { left } = event.currentTarget.getBoundingClientRect();
              const nearest = Math.round(drawing.x.invert(event.clientX - left));
              onStep(Math.min(to, Math.max(from, nearest)));
            }}
            onPointerLeave={() => onStep(null)}
          >
            {step !== null && (
              // Of saved pictures. On the page a layer of its own moves: a line in here would have all curves redrawn.
              <line
                className="marked"
                x1={drawing.x(step)}
                x2={drawing.x(step)}
                y1={MARGIN.top}
                y2={HEIGHT - MARGIN.bottom}
              />
            )}
            <Curves runs={runs} drawing={drawing} width={width} />
          </svg>
        )}
        {drawing !== null && step !== null && (
          <div
            className="run-crosshair"
            style={{
              marginTop: MARGIN.top,
              height: HEIGHT - MARGIN.top - MARGIN.bottom,
              transform: `translateX(${Math.round(drawing.x(step))}px)`,
            }}
          />
        )}
      </div>
    </figure>
  );
}
