/** One figure of several runs by step: numbers, dashes and points tell them apart, one crosshair goes through all. */
import { area, line, scaleLinear } from "d3";
import { memo, useDeferredValue, useMemo, useRef } from "react";
import { decimate, type XY } from "../../../base/chart/decimate.ts";
import { smooth } from "../../../base/chart/smooth.ts";
import { ValueAxis } from "../../../base/chart/value-axis.tsx";
import { shownName } from "../../../base/text/shown-text.ts";
import { useSize } from "../../../base/use-size.ts";
import { type CurvePoint, POINT_SHAPE, type ShownFigure, spread } from "../figures.ts";
import { numberOf, readSeries, type Series, seriesCurve } from "../series.ts";
import { type StageName, type StageSpan, stageNames, stageSpans } from "./stages.ts";

const MARGIN = { left: 52, right: 20, top: 14, bottom: 24 };
const HEIGHT = 154;

/** A curve's runs, and its place among the curves of the chart. */
export interface Charted {
  series: Series;
  place: number;
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
  smoothing: number,
) {
  const x = scaleLinear(padded(...steps), [MARGIN.left, Math.max(MARGIN.left + 1, width - MARGIN.right)]);
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  const all = runs.map((charted) => {
    const points = seriesCurve(charted.series, key);
    for (const { y, bar, band = bar ?? [y, y] } of points) {
      low = Math.min(low, band[0]);
      high = Math.max(high, band[1]);
    }
    return { ...charted, points };
  });
  const y = scaleLinear(padded(low, high, least), [HEIGHT - MARGIN.bottom, MARGIN.top]).nice(4);
  const lines = line<XY>(
    (point) => x(point.x),
    (point) => y(point.y),
  );
  const bands = area<CurvePoint>(
    (point) => x(point.x),
    (point) => y(point.band![0]),
    (point) => y(point.band![1]),
  ).defined(({ band }) => band !== undefined);
  const path = (points: readonly XY[]): string => lines(decimate(points, width, x)) ?? "";
  const series = all.map((each) => {
    const { points } = each;
    // Evaluations are few and have bars of their own: they are not smoothed.
    const isSmooth = smoothing > 1 && points.some(({ bar }) => bar === undefined);
    const drawnPoints = isSmooth ? smooth(points, smoothing) : points;
    const kept = takenBack === null ? drawnPoints : drawnPoints.filter((point) => point.x <= takenBack);
    // From the last step that is left on, so that the curve has no gap.
    const gone = drawnPoints.slice(Math.max(0, kept.length - 1));
    const gonePath = kept.length < drawnPoints.length ? path(gone) : null;
    return {
      ...each,
      points: drawnPoints,
      kept,
      path: path(kept),
      gonePath,
      rawPath: isSmooth ? path(points) : null,
      bandPath: bands(points),
    };
  });
  const stages = stageSpans(runs);
  return { series, stages, x, y };
}

/** What a step of the crosshair leaves alone: axes, marks and curves. */
const Curves = memo(function Curves({
  runs,
  drawing: { series, stages, x, y },
  width,
}: {
  runs: readonly Charted[];
  drawing: ReturnType<typeof drawn>;
  width: number;
}) {
  const ticks = x.ticks(Math.max(2, Math.floor(width / 70))).filter(Number.isInteger);
  // Marks are only ever added, so that their number in a run is what they are known by.
  const marks = runs.flatMap(({ series: own, place }) =>
    own.flatMap(({ id, figures }) => figures.marks.map((mark, n) => ({ id: `${id} ${n}`, place, mark }))),
  );
  const texts = stages.map(({ name, who }) => (who === null ? name : `${who} ${name}`));
  const at = stages.map(({ from }) => Math.max(MARGIN.left, x(from - 0.5)));
  const names = stageNames(texts, at, width - MARGIN.right);
  const ends = spread(
    series.map(({ points }) => y(points.at(-1)?.y ?? 0)),
    10,
    HEIGHT - MARGIN.bottom,
  );
  return (
    <>
      <ValueAxis y={y} left={MARGIN.left} right={width - MARGIN.right} />
      <text className="tick-x" x={4} y={HEIGHT - 8}>
        step
      </text>
      {ticks.map((tick) => (
        <text key={tick} className="tick-x" x={x(tick)} y={HEIGHT - 8} textAnchor="middle">
          {tick}
        </text>
      ))}
      {stages.map((span, n) => (
        <StageMark
          key={`${span.from} ${span.name}`}
          span={span}
          text={texts[n]!}
          at={at[n]!}
          shown={names[n]!}
          isFirst={n === 0}
        />
      ))}
      {marks.map(({ id, place, mark }) => (
        <line
          key={id}
          className={`run-mark ${mark.kind}`}
          x1={x(mark.step + 0.5)}
          x2={x(mark.step + 0.5)}
          y1={MARGIN.top}
          y2={HEIGHT - MARGIN.bottom}
        >
          <title>{`${numberOf(place)}, after step ${mark.step}: ${shownName(mark.text, 500)}`}</title>
        </line>
      ))}
      {series.map(({ series: [first], place, points, kept, path, gonePath, rawPath, bandPath }, i) => {
        const last = points.at(-1);
        return (
          <g key={first.id} className={`run-series run-${place}`}>
            {bandPath !== null && <path className="band" d={bandPath} />}
            {rawPath !== null && <path className="curve raw" d={rawPath} />}
            <path className="curve" d={path} />
            {gonePath !== null && (
              <path className="curve taken-back" d={gonePath}>
                <title>Taken back: the student no longer has these steps</title>
              </path>
            )}
            {points.map(
              ({ x: step, bar }) =>
                bar !== undefined && (
                  <line key={step} className="bar" x1={x(step)} x2={x(step)} y1={y(bar[0])} y2={y(bar[1])} />
                ),
            )}
            {points.length <= 40 &&
              rawPath === null &&
              points.map((point, n) => (
                <path
                  key={point.x}
                  className={n < kept.length ? "point" : "point taken-back"}
                  d={POINT_SHAPE}
                  transform={`translate(${x(point.x)},${y(point.y)})`}
                />
              ))}
            {last !== undefined && runs.length > 1 && (
              <text className="run-number" x={x(last.x) + 3} y={ends[i]} dy="0.32em">
                {numberOf(place)}
              </text>
            )}
          </g>
        );
      })}
    </>
  );
});

/** Where a stage begins, with its name; the first one begins with the chart. */
function StageMark({
  span: { name, from },
  text,
  at,
  shown,
  isFirst,
}: {
  span: StageSpan;
  /** Its name, with the curves that it is of. */
  text: string;
  /** Pixels from the left, of its first step. */
  at: number;
  shown: StageName | null;
  isFirst: boolean;
}) {
  return (
    <g className="stage" data-stage={name}>
      {(!isFirst || shown?.text !== text) && <title>{`${text} from step ${from} on`}</title>}
      {!isFirst && <line x1={at} x2={at} y1={MARGIN.top} y2={HEIGHT - MARGIN.bottom} />}
      {shown !== null && (
        <text x={shown.x} y={MARGIN.top - 2} textAnchor={shown.anchor}>
          {shown.text}
        </text>
      )}
    </g>
  );
}

export function RunChart({
  figure,
  runs,
  from,
  to,
  step,
  takenBack = null,
  smoothing,
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
  /** Steps that a point of the curve is the mean of; figures are read from the curve as it was measured. */
  smoothing: number;
  onStep: (step: number | null) => void;
}) {
  const box = useRef<HTMLElement>(null);
  // Deferred: charts of long runs are drawn one after the other, and a key pressed meanwhile is heard at once.
  const width = useDeferredValue(useSize(box).width);
  const { key, title, unit, least, bars } = figure;
  // A hover reads another step of the same curves.
  const drawing = useMemo(
    () => (width === 0 ? null : drawn(runs, { key, least }, [from, to], width, takenBack, smoothing)),
    [runs, key, least, from, to, width, takenBack, smoothing],
  );
  const read = runs.map(({ series, place }) => ({ place, text: readSeries(series, key, step) }));
  const isAlone = runs.length === 1;
  const said = read.map(({ place, text }) => (isAlone ? text : `${numberOf(place)} ${text}`)).join(", ");
  return (
    <figure className="panel run-chart" ref={box}>
      <figcaption>
        <strong>{title}</strong>
        {unit !== "" && <span className="note">{unit}</span>}
        {bars !== undefined && <span className="note">{bars}</span>}
        <span className="run-readout">
          {read.map(({ place, text }) => (
            <span key={place} className={`run-series run-${place}`}>
              {!isAlone && <b>{numberOf(place)}</b>} {text}
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
              // For saved pictures. On the page a layer of its own moves instead, which redraws no curve.
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
