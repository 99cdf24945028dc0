/** Runs as files: their events as JSON Lines, their curves as CSV. */
import type { Run, RunPoint } from "./run.ts";

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

/** Every event of a run, a line each, as `events.jsonl` of the command line has them. */
export function eventLines({ events }: Pick<Run, "events">): string {
  return events.map((event) => `${JSON.stringify(event)}\n`).join("");
}

/** The figures of runs by step: a line for each step of each run. Numbers are whole, as computed. */
export function curvesCsv(runs: readonly Pick<Run, "id" | "title" | "where" | "figures">[]): string {
  const lines = runs.flatMap(({ id, title, where, figures }) =>
    figures.points.map((point) =>
      [id, csvField(title), where, ...COLUMNS.map((key) => point[key] ?? "")].join(","),
    ),
  );
  return `${["run", "name", "where", ...COLUMNS].join(",")}\n${lines.map((line) => `${line}\n`).join("")}`;
}

/** RFC 4180. */
function csvField(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
