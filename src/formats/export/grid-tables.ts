/** The tables of an experiment as files: CSV, and LaTeX in the layout of the paper's Table 1. */
import Papa from "papaparse";
import type { CellFigures, GridTable, OverSeeds } from "../../core/evaluation/index.ts";
import { countOf } from "../../core/plural.ts";

const FIGURES = ["sr", "score", "rounds"] as const;

type Row = Record<string, string | number | null>;

/** An empty cell stands for what is not there. */
const csv = (rows: readonly Row[]): string =>
  `${Papa.unparse([...rows], { newline: "\n", escapeFormulae: true })}\n`;

const named = ({ evaluation, environment, checkpoint }: GridTable): Row => ({
  evaluation,
  environment,
  checkpoint,
});

/** One row per method: n, mean, SD and 95 % interval over training seeds. */
export function resultsCsv(tables: readonly GridTable[]): string {
  const over = (name: string, figure: OverSeeds | null): Row => ({
    [`${name}_mean`]: figure?.mean ?? null,
    [`${name}_sd`]: figure?.sd ?? null,
    [`${name}_low`]: figure?.interval?.[0] ?? null,
    [`${name}_high`]: figure?.interval?.[1] ?? null,
  });
  return csv(
    tables.flatMap((table) =>
      table.methods.map((row) => ({
        ...named(table),
        method: row.method,
        label: row.label,
        training_seeds: row.training_seeds.join(" "),
        n: row.sr.n,
        tasks: table.tasks,
        ...over("sr", row.sr),
        ...over("score", row.score),
        ...over("rounds", row.rounds),
      })),
    ),
  );
}

/** One row per cell: mean and SD over inference seeds. The untrained student has no training seed. */
export function cellsCsv(tables: readonly GridTable[]): string {
  const row = (table: GridTable, cell: Pick<CellFigures, (typeof FIGURES)[number] | "technical">): Row => ({
    inference_seeds: table.inference_seeds.join(" "),
    tasks: table.tasks,
    ...Object.fromEntries(
      FIGURES.flatMap((name) => [
        [`${name}_mean`, cell[name]?.mean ?? null],
        [`${name}_sd`, cell[name]?.sd ?? null],
      ]),
    ),
    technical: cell.technical.length,
  });
  return csv(
    tables.flatMap((table) => [
      ...(table.untrained === null
        ? []
        : [{ ...named(table), method: "untrained", training_seed: null, ...row(table, table.untrained) }]),
      ...table.cells.map((cell) => ({
        ...named(table),
        method: cell.method,
        training_seed: cell.training_seed,
        ...row(table, cell),
      })),
    ]),
  );
}

const TEX: Record<string, string> = {
  "\\": "\\textbackslash{}",
  "~": "\\textasciitilde{}",
  "^": "\\textasciicircum{}",
};

/** A text that LaTeX shows as it is. */
const tex = (text: string): string => text.replace(/[\\~^&%$#_{}]/g, (sign) => TEX[sign] ?? `\\${sign}`);

const digits = (value: number): string => value.toFixed(2);

function texFigure(figure: { mean: number; sd: number | null } | null): string {
  if (figure === null) return "--";
  const { mean, sd } = figure;
  return sd === null ? digits(mean) : `\\meanstd{${digits(mean)}}{${digits(sd)}}`;
}

const seedWords = (seeds: readonly number[]): string => seeds.join(", ");

/**
 * A tabular per table, each row `Method & SR & Score & Rounds`, mean with ± SD over training seeds in small grey. The
 * untrained student was not trained, so it has no ±. Needs the packages booktabs and xcolor.
 */
export function resultsTex(tables: readonly GridTable[]): string {
  const lines = [
    "% \\usepackage{booktabs,xcolor}",
    "\\providecommand{\\meanstd}[2]{#1{\\tiny\\color{black!65}$\\pm$#2}}",
  ];
  for (const table of tables) {
    const { evaluation, checkpoint, tasks, left_out, inference_seeds: inference, methods, untrained } = table;
    const score = methods.some((row) => row.score !== null) || (untrained?.score ?? null) !== null;
    const cells = (row: Record<(typeof FIGURES)[number], { mean: number; sd: number | null } | null>) =>
      FIGURES.filter((name) => score || name !== "score")
        .map((name) => texFigure(row[name]))
        .join(" & ");
    const most = Math.max(...methods.map(({ sr }) => sr.n));
    const seeds = methods.find(({ sr }) => sr.n === most)?.training_seeds ?? [];
    const alone = ({ mean }: { mean: number }) => ({ mean, sd: null });
    lines.push(
      "",
      `% ${evaluation}, ${checkpoint} checkpoint: mean and sample SD over n = ${most} training seeds (${seedWords(seeds)}),`,
      `% each the mean over ${countOf(tasks, "task")} and the inference seeds ${seedWords(inference)}.`,
      ...(left_out.length === 0
        ? []
        : [
            `% Left out of every row: ${countOf(left_out.length, "task")} with an episode that ended for a technical reason.`,
          ]),
      `\\begin{tabular}{@{}l${score ? "ccc" : "cc"}@{}}`,
      "\\toprule",
      `Method & SR $\\uparrow$ &${score ? " Score $\\uparrow$ &" : ""} Rounds $\\downarrow$\\\\`,
      "\\midrule",
    );
    if (untrained !== null) {
      const { sr, score: points, rounds } = untrained;
      const row = { sr: alone(sr), score: points === null ? null : alone(points), rounds: alone(rounds) };
      lines.push(`Untrained student & ${cells(row)}\\\\`, "\\midrule");
    }
    for (const row of methods) {
      const n = row.sr.n === most ? "" : ` ($n=${row.sr.n}$)`;
      lines.push(`${tex(row.label)}${n} & ${cells(row)}\\\\`);
    }
    lines.push("\\bottomrule", "\\end{tabular}");
  }
  return `${lines.join("\n")}\n`;
}
