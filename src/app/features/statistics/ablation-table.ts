/** The ablation matrix as rows: the same on the screen, as Markdown and as CSV. */
import type { Control } from "../../../core/retrieval/types.ts";
import {
  ABLATION_BUDGETS,
  ABLATION_FIGURES,
  type AblationFigure,
  type AblationMatrix,
  type Estimate,
} from "../../../core/statistics/index.ts";
import { nats } from "../../base/format.ts";
import { CONTROL_TITLES } from "../../url/what-if.ts";
import { statisticsMarkdown } from "./statistics-markdown.ts";

/** What retrieval gives, and what the decisions that were scored here add. */
export const SHOWN_FIGURES = [...ABLATION_FIGURES, "delta"] as const satisfies readonly (
  | AblationFigure
  | "delta"
)[];
export type ShownFigure = (typeof SHOWN_FIGURES)[number];

/** One cell's figures, with mean Δ where decisions were scored under its selection. */
export interface ShownCell {
  control: Control;
  sourcesPerTask: number | null;
  figures: Record<ShownFigure, Estimate>;
}

export const budgetName = (k: number | null): string => (k === null ? "all" : `K = ${k}`);

/** What a figure is, with its unit. */
export function figureTitle(figure: ShownFigure, unit: AblationMatrix["unit"]): string {
  return {
    matched: "Decisions matched",
    fallback: "Fallbacks",
    referenced: "With a reference",
    evidence: `Evidence (mean ${unit})`,
    delta: "Mean Δ (nats per token)",
  }[figure];
}

/** True for what is shown in percent. */
export const isShare = (figure: ShownFigure): boolean => figure !== "evidence" && figure !== "delta";

/** One value as it is read: `63 %`, `412`, `+0.312`. */
export function valueText(figure: ShownFigure, value: number): string {
  if (figure === "delta") return nats(value, true);
  return isShare(figure) ? `${(100 * value).toFixed(1)} %` : Math.round(value).toLocaleString("en");
}

/** `63.0 % [58.1 %, 67.2 %]`; a dash where nothing was counted. */
export function estimateText(figure: ShownFigure, { value, interval }: Estimate): string {
  if (value === null) return "–";
  const ends = interval?.map((end) => valueText(figure, end)).join(", ");
  return `${valueText(figure, value)}${ends === undefined ? "" : ` [${ends}]`}`;
}

export function cellAt(
  cells: readonly ShownCell[],
  control: Control,
  sourcesPerTask: number | null,
): ShownCell {
  return cells.find((cell) => cell.control === control && cell.sourcesPerTask === sourcesPerTask)!;
}

/** Tasks with a trusted success among the records of each budget. */
export function coverageRow({ coverage, tasks }: AblationMatrix): string[] {
  return coverage.map(({ covered, coveredAugmented }) =>
    tasks === 0
      ? "–"
      : `${((100 * covered) / tasks).toFixed(1)} % (${((100 * coveredAugmented) / tasks).toFixed(1)} %)`,
  );
}

/** Every figure as a table of Markdown, controls by budgets. */
export function ablationMarkdown(
  heading: string,
  matrix: AblationMatrix,
  cells: readonly ShownCell[],
  controls: readonly Control[],
): string {
  const head = ["", ...ABLATION_BUDGETS.map(budgetName)];
  return statisticsMarkdown(heading, [
    ...SHOWN_FIGURES.filter((figure) => cells.some((cell) => cell.figures[figure].value !== null)).map(
      (figure) => ({
        title: figureTitle(figure, matrix.unit),
        head,
        rows: controls.map((control) => [
          CONTROL_TITLES[control],
          ...ABLATION_BUDGETS.map((k) => estimateText(figure, cellAt(cells, control, k).figures[figure])),
        ]),
      }),
    ),
    {
      title: "Tasks with a trusted success, by K (with planner and oracle)",
      head,
      rows: [["coverage", ...coverageRow(matrix)]],
    },
  ]);
}

/** One line per cell and figure, numbers in full, for other programs. */
export function ablationCsv(matrix: AblationMatrix, cells: readonly ShownCell[]): string {
  const lines = ["control,sources_per_task,figure,value,low,high"];
  for (const { control, sourcesPerTask, figures } of cells)
    for (const figure of SHOWN_FIGURES) {
      const { value, interval } = figures[figure];
      if (value !== null)
        lines.push([control, sourcesPerTask ?? "all", figure, value, ...(interval ?? ["", ""])].join(","));
    }
  for (const { sourcesPerTask, covered, coveredAugmented } of matrix.coverage) {
    const k = sourcesPerTask ?? "all";
    lines.push(`,${k},coverage,${covered / matrix.tasks},,`);
    lines.push(`,${k},coverage with planner and oracle,${coveredAugmented / matrix.tasks},,`);
  }
  return `${lines.join("\n")}\n`;
}
