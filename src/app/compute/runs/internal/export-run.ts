/** Runs as files: their events as JSON Lines, their curves as CSV. */
import { csvField } from "../../../base/export/csv-field.ts";
import type { Run, RunEvaluation, RunPoint } from "../run.ts";

/** The columns of the CSV, in its order; docs/training.md says what each figure is. */
const COLUMNS: readonly (keyof RunPoint)[] = [
  "step",
  "stage",
  "loss",
  "gradNorm",
  "clipFraction",
  "meanAdvantage",
  "rolloutKl",
  "alignment",
  "tokens",
  "studentTokens",
  "teacherTokens",
  "teacherSeconds",
  "seconds",
  "tokensPerSecond",
  "success",
];

/** Every event of a run, one per line, as `events.jsonl` of the command line has them. */
export function eventLines({ events }: Pick<Run, "events">): string {
  return events.map((event) => `${JSON.stringify(event)}\n`).join("");
}

/** Columns of the student as it is after the step, on the run's fixed tasks. */
const EVALUATION_COLUMNS: readonly (readonly [string, (evaluation: RunEvaluation) => number | null])[] = [
  ["evaluated_sr", ({ sr }) => sr.mean],
  ["evaluated_sr_sd", ({ sr }) => sr.sd],
  ["evaluated_sr_low", ({ sr_interval: interval }) => interval?.[0] ?? null],
  ["evaluated_sr_high", ({ sr_interval: interval }) => interval?.[1] ?? null],
  ["evaluated_score", ({ score }) => score?.mean ?? null],
  ["evaluated_rounds", ({ rounds }) => rounds.mean],
];

/** The figures of runs by step: a line for each step of each run. Numbers are whole, as computed. */
export function curvesCsv(runs: readonly Pick<Run, "id" | "title" | "where" | "figures">[]): string {
  const lines = runs.flatMap(({ id, title, where, figures: { points, evaluations } }) => {
    const pointsBy = new Map(points.map((point) => [point.step, point]));
    const evaluatedBy = new Map(evaluations.map((evaluation) => [evaluation.step, evaluation]));
    const steps = [...new Set([...pointsBy.keys(), ...evaluatedBy.keys()])].sort((a, b) => a - b);
    return steps.map((step) => {
      const point = { ...pointsBy.get(step), step };
      const evaluation = evaluatedBy.get(step);
      return [
        ...[id, csvField(title), where, ...COLUMNS.map((key) => point[key] ?? "")],
        ...EVALUATION_COLUMNS.map(([, read]) => (evaluation === undefined ? "" : (read(evaluation) ?? ""))),
      ].join(",");
    });
  });
  const head = ["run", "name", "where", ...COLUMNS, ...EVALUATION_COLUMNS.map(([name]) => name)];
  return `${head.join(",")}\n${lines.map((line) => `${line}\n`).join("")}`;
}
