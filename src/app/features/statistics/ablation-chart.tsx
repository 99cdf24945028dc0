/** One figure of the ablation matrix by source budget: a point with its interval per control. */
import { extent, scaleBand, scaleLinear } from "d3";
import type { Ref } from "react";
import { CONTROLS } from "../../../core/retrieval/selection.ts";
import { ABLATION_BUDGETS } from "../../../core/statistics/index.ts";
import { CONTROL_TITLES } from "../../url/what-if.ts";
import {
  budgetName,
  cellAt,
  estimateText,
  isShare,
  type ShownCell,
  type ShownFigure,
  valueText,
} from "./ablation-table.ts";

const WIDTH = 640;
const HEIGHT = 240;
const MARGIN = { left: 64, right: 8, top: 10, bottom: 26 };

/** Told apart without colour too: a mark around (0, 0) per control. */
export const CONTROL_SHAPES = {
  graph: "M-4.5 0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0-9 0",
  "success-only": "M-4-4h8v8h-8z",
  "hindsight-only": "M0-5l5 9h-10z",
  "minimum-prefix": "M0-5.5l5.5 5.5l-5.5 5.5l-5.5-5.5z",
} as const;

export function AblationChart({
  figure,
  title,
  cells,
  ref,
}: {
  figure: ShownFigure;
  title: string;
  cells: readonly ShownCell[];
  ref: Ref<SVGSVGElement>;
}) {
  const names = ABLATION_BUDGETS.map(budgetName);
  const x = scaleBand(names, [MARGIN.left, WIDTH - MARGIN.right]).padding(0.25);
  const inner = scaleBand(CONTROLS, [0, x.bandwidth()]).padding(0.3);
  const ends = cells.flatMap(({ figures: { [figure]: each } }) =>
    each.value === null ? [] : [each.value, ...(each.interval ?? [])],
  );
  const [low = 0, high = 1] = extent([0, ...ends]);
  const y = scaleLinear(isShare(figure) ? [0, 1] : [low, high === low ? low + 1 : high], [
    HEIGHT - MARGIN.bottom,
    MARGIN.top,
  ]).nice(4);
  const spoken = CONTROLS.map(
    (control) =>
      `${CONTROL_TITLES[control]}: ${ABLATION_BUDGETS.map(
        (k) => `${budgetName(k)} ${estimateText(figure, cellAt(cells, control, k).figures[figure])}`,
      ).join(", ")}`,
  );
  return (
    <svg
      ref={ref}
      className="ablation-chart"
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      role="img"
      aria-label={`${title}. ${spoken.join("; ")}`}
    >
      {y.ticks(4).map((tick) => (
        <g key={tick}>
          <line className="grid" x1={MARGIN.left} x2={WIDTH} y1={y(tick)} y2={y(tick)} />
          <text x={MARGIN.left - 6} y={y(tick)} dy="0.35em" textAnchor="end">
            {valueText(figure, tick)}
          </text>
        </g>
      ))}
      {ABLATION_BUDGETS.map((k) => (
        <g key={budgetName(k)} transform={`translate(${x(budgetName(k))},0)`}>
          <text x={x.bandwidth() / 2} y={HEIGHT - 8} textAnchor="middle">
            {budgetName(k)}
          </text>
          {CONTROLS.map((control) => {
            const { value, interval } = cellAt(cells, control, k).figures[figure];
            if (value === null) return null;
            return (
              <g
                key={control}
                className={`control-${control}`}
                transform={`translate(${inner(control)! + inner.bandwidth() / 2},0)`}
              >
                {interval !== null && <line className="interval" y1={y(interval[0])} y2={y(interval[1])} />}
                <path className="point" d={CONTROL_SHAPES[control]} transform={`translate(0,${y(value)})`} />
              </g>
            );
          })}
        </g>
      ))}
    </svg>
  );
}
