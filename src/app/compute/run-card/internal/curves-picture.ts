/** The curves on the screen as one drawing to save: see src/app/export. */
import type { Drawn } from "../../../base/export/picture.ts";
import { POINT_SHAPE, type ShownFigure } from "../figures.ts";
import { stepsText } from "../run-state.tsx";
import { numberOf, readSeries, seriesName } from "../series.ts";
import type { Charted } from "./run-chart.tsx";

/** The charts of `grid`, with what is read of each run at `step` (null: at its last) as headings. */
export function drawnCurves(
  grid: HTMLElement,
  figures: readonly ShownFigure[],
  charted: readonly Charted[],
  step: number | null,
): Drawn {
  const alone = charted.length === 1;
  const svg = figures.flatMap(({ key, title, unit, bars }) => {
    const drawn = grid.querySelector<SVGSVGElement>(`svg[data-figure="${key}"]`);
    if (drawn === null) return [];
    const read = charted.map(({ series, place }) => {
      const value = readSeries(series, key, step);
      return alone ? value : `${numberOf(place)} ${value}`;
    });
    const measured = [unit, bars].filter((part) => part !== undefined && part !== "").join("; ");
    return [
      { svg: drawn, heading: `${title}${measured === "" ? "" : ` (${measured})`}: ${read.join(", ")}` },
    ];
  });
  const facts = charted.map(({ series, place }) => {
    const [run] = series;
    const { start } = run.figures;
    return [
      `${alone ? "" : `${numberOf(place)}: `}${seriesName(series)}, ${series.map(({ id }) => id).join(", ")}`,
      { page: "in the page", worker: "on the worker", target: `on ${run.launched?.target}` }[run.where],
      `step ${stepsText(run)}`,
      ...(start === null
        ? []
        : [
            `student ${start.student.model}`,
            ...(start.teacher === null ? [] : [`teacher ${start.teacher.model}`]),
          ]),
    ].join(", ");
  });
  return {
    svg,
    title: alone ? seriesName(charted[0]!.series) : "Training runs",
    caption: `${facts.join(". ")}. Figures in the headings are of ${step === null ? "the last step" : `step ${step}`}.`,
    legend: alone
      ? []
      : charted.map(({ series, place }) => ({
          name: `${numberOf(place)} ${seriesName(series)}`,
          className: `run-series run-${place}`,
          shape: POINT_SHAPE,
        })),
  };
}
