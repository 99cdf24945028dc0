/** Students as curves: the mean of each method with its interval, each training as a thin line, recorded runs as bands. */
import { area, line, scaleLinear } from "d3";
import type { Ref } from "react";
import { METHOD_IDS } from "../../../../core/method/index.ts";
import type { RecordedBands } from "../../../compute/students/recorded-results.ts";
import type { Curve, CurvePoint, Study } from "../../../compute/students/study.ts";
import { percent, pointText } from "./study-words.ts";

const WIDTH = 700;
const HEIGHT = 336;
const MARGIN = { left: 46, right: 190, top: 30, bottom: 36 };
const LABEL = 14;

/** Told apart without colour too: a mark around (0, 0) for each place. */
const SHAPES = [
  "M-3.6 0a3.6 3.6 0 1 0 7.2 0a3.6 3.6 0 1 0-7.2 0",
  "M-3.3-3.3h6.6v6.6h-6.6z",
  "M0-4.4l4.2 7.4h-8.4z",
  "M0-4.6l4.6 4.6l-4.6 4.6l-4.6-4.6z",
];

/** One colour per method, wherever it is drawn; one for all that the page does not know. */
const IDS: readonly string[] = METHOD_IDS;
const methodClass = (method: string): string => `method-${IDS.indexOf(method)}`;

interface Shown {
  curves: readonly Curve[];
  parent: number | null;
  oracle: Study["oracle"];
  recorded: RecordedBands | null;
  /** Steps of the whole training. */
  steps: number;
}

const span = ({ mean, interval }: CurvePoint): readonly [number, number] => interval ?? [mean, mean];
const inside = (value: number): number => Math.min(100, Math.max(0, value));

export function StudentsChart({
  curves,
  parent,
  oracle,
  recorded,
  steps,
  ref,
}: Shown & { ref: Ref<SVGSVGElement> }) {
  const bands = recorded?.bands ?? [];
  const last = Math.max(steps, ...bands.flatMap(({ points }) => points.map((point) => point.steps)));
  const x = scaleLinear([0, last], [MARGIN.left, WIDTH - MARGIN.right]);
  const y = scaleLinear([0, 100], [HEIGHT - MARGIN.bottom, MARGIN.top]);
  const path = line<{ steps: number; sr: number }>(
    (point) => x(point.steps),
    (point) => y(point.sr),
  );
  const band = area<CurvePoint>(
    (point) => x(point.steps),
    (point) => y(inside(span(point)[0])),
    (point) => y(inside(span(point)[1])),
  );
  const meanPath = (points: readonly CurvePoint[]): string =>
    path(points.map(({ steps: at, mean }) => ({ steps: at, sr: mean }))) ?? "";
  // Recorded runs say on which tasks; those of the page stand in its caption.
  const title = `Success on ${curves.length === 0 && recorded !== null ? recorded.evaluation : "unseen tasks"}`;
  const ticks = x.ticks(6).filter(Number.isInteger);
  // The axis names its end where there is room.
  if (last - (ticks.at(-1) ?? 0) > last / 10) ticks.push(last);
  const ceiling = oracle === null ? null : (100 * oracle.won) / oracle.tasks;
  const labels = placed(
    [
      ...curves.flatMap(({ method, label, points }) => {
        const end = points.at(-1);
        return end === undefined
          ? []
          : [{ key: method, text: label, at: y(end.mean), kind: methodClass(method) }];
      }),
      ...bands.map(({ method, label, points }) => ({
        key: `recorded ${method}`,
        text: `${label}, recorded`,
        at: y(points.at(-1)?.mean ?? 0),
        kind: methodClass(method),
      })),
      ...(ceiling === null ? [] : [{ key: "oracle", text: "optimal player", at: y(ceiling), kind: "" }]),
      ...(parent === null ? [] : [{ key: "parent", text: "parent", at: y(parent), kind: "" }]),
    ],
    [MARGIN.top, HEIGHT - MARGIN.bottom],
  );
  const spoken = [
    ...(parent === null ? [] : [`parent ${percent(parent)}`]),
    ...curves.map(({ label, points }) => {
      const end = points.at(-1);
      return `${label}: ${end === undefined ? "nothing yet" : `after step ${end.steps} ${pointText(end)}`}`;
    }),
    ...bands.map(({ label, points }) => {
      const end = points.at(-1)!;
      return `${label}, recorded: after step ${end.steps} ${pointText(end)}`;
    }),
    ...(ceiling === null ? [] : [`optimal player ${percent(ceiling)}`]),
  ];
  return (
    <svg
      ref={ref}
      className="students-chart"
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      width={WIDTH}
      height={HEIGHT}
      role="img"
      aria-label={`Success on unseen tasks by optimizer steps. ${spoken.join("; ")}`}
    >
      <text x={0} y={12}>
        {title}
      </text>
      {y.ticks(5).map((tick) => (
        <g key={tick}>
          <line className="grid" x1={MARGIN.left} x2={WIDTH - MARGIN.right} y1={y(tick)} y2={y(tick)} />
          <text x={MARGIN.left - 6} y={y(tick)} dy="0.35em" textAnchor="end">
            {tick} %
          </text>
        </g>
      ))}
      {ticks.map((tick) => (
        <text key={tick} x={x(tick)} y={HEIGHT - MARGIN.bottom + 16} textAnchor="middle">
          {tick}
        </text>
      ))}
      <text x={WIDTH - MARGIN.right} y={HEIGHT - 4} textAnchor="end">
        optimizer steps
      </text>
      {bands.map(({ method, points }) => (
        <g key={method} className={methodClass(method)} data-testid="recorded-band">
          <path className="band" d={band(points) ?? ""} />
          <path className="recorded" d={meanPath(points)} />
        </g>
      ))}
      {ceiling !== null && <line className="oracle" x1={x(0)} x2={x(last)} y1={y(ceiling)} y2={y(ceiling)} />}
      {curves.map(({ method, points, seeds }, place) => (
        <g key={method} className={methodClass(method)}>
          {seeds.length > 1 &&
            seeds.map(({ seed, points: own }) => <path key={seed} className="seed" d={path(own) ?? ""} />)}
          {points.map(
            (point) =>
              point.interval !== null && (
                <line
                  key={point.steps}
                  className="interval"
                  x1={x(point.steps)}
                  x2={x(point.steps)}
                  y1={y(inside(point.interval[0]))}
                  y2={y(inside(point.interval[1]))}
                />
              ),
          )}
          <path className="curve" d={meanPath(points)} />
          {points
            .filter((point) => point.steps > 0)
            .map((point) => (
              <path
                key={point.steps}
                className="point"
                d={SHAPES[place % SHAPES.length]}
                transform={`translate(${x(point.steps)},${y(point.mean)})`}
              />
            ))}
        </g>
      ))}
      {parent !== null && (
        <path className="parent" d={SHAPES[0]} transform={`translate(${x(0)},${y(parent)})`} />
      )}
      {labels.map(({ key, text, at, kind }) => (
        <g key={key} className={kind}>
          <text className="name" x={WIDTH - MARGIN.right + 10} y={at} dy="0.35em">
            {text}
          </text>
        </g>
      ))}
    </svg>
  );
}

interface Label {
  key: string;
  text: string;
  at: number;
  kind: string;
}

/** Labels beside the ends of their curves, moved down, and then up from the bottom, until none covers another. */
function placed(labels: readonly Label[], [top, bottom]: readonly [number, number]): Label[] {
  const sorted = [...labels].sort((a, b) => a.at - b.at).map((label) => ({ ...label }));
  sorted.forEach((label, n) => {
    label.at = Math.max(label.at, n === 0 ? top : sorted[n - 1]!.at + LABEL);
  });
  let limit = bottom;
  for (const label of sorted.reverse()) {
    label.at = Math.min(label.at, limit);
    limit = label.at - LABEL;
  }
  return sorted;
}
