/** The curves on the screen as one drawing to save: see src/app/export. */
import type { Drawn } from "../../export/picture.ts";
import { shownName } from "../../text/shown-text.ts";
import { LETTERS, POINT_SHAPE, readAt, type ShownFigure } from "./figures.ts";
import type { Charted } from "./run-chart.tsx";
import { stepsText } from "./run-state.tsx";

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
    const read = charted.map(({ run, letter }) => {
      const value = readAt(run, key, step);
      return alone ? value : `${LETTERS[letter]} ${value}`;
    });
    const measured = [unit, bars].filter((part) => part !== undefined && part !== "").join("; ");
    return [
      { svg: drawn, heading: `${title}${measured === "" ? "" : ` (${measured})`}: ${read.join(", ")}` },
    ];
  });
  const facts = charted.map(({ run, letter }) => {
    const { start } = run.figures;
    return [
      `${alone ? "" : `${LETTERS[letter]}: `}${shownName(run.title)}, ${run.id}`,
      run.where === "page" ? "in the page" : "on the worker",
      `step ${stepsText(run)}`,
      ...(start === null ? [] : [`student ${start.student.model}`, `teacher ${start.teacher.model}`]),
    ].join(", ");
  });
  return {
    svg,
    title: alone ? shownName(charted[0]!.run.title) : "Training runs",
    caption: `${facts.join(". ")}. Figures in the headings are of ${step === null ? "the last step" : `step ${step}`}.`,
    legend: alone
      ? []
      : charted.map(({ run, letter }) => ({
          name: `${LETTERS[letter]} ${shownName(run.title)}`,
          className: `run-series run-${letter}`,
          shape: POINT_SHAPE,
        })),
  };
}
