/** Statistics for a reader (tables in the paper's order) and for a program (names in snake_case). */
import { plainLine } from "../core/plain-text.ts";
import { countOf, plural } from "../core/plural.ts";
import { type LibraryStatistics, statisticsTables } from "../core/statistics/index.ts";
import { table } from "./demo/table.ts";

/** Every figure as JSON; the single evidence sizes are left out. */
export function statisticsRecord(statistics: LibraryStatistics): unknown {
  const { evidence, ...rest } = statistics;
  if (evidence === null) return snakeCase({ ...rest, evidence: null });
  const { values: _, ...sizes } = evidence;
  return snakeCase({ ...rest, evidence: sizes });
}

function snakeCase(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(snakeCase);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      snakeCase(inner),
    ]),
  );
}

/** The tables in the paper's order, then what was left out. */
export function* statisticsText(statistics: LibraryStatistics): Generator<string> {
  yield `${selectionLine(statistics)}\n`;
  for (const { title, head, rows } of statisticsTables(statistics))
    yield `\n${title}\n\n${table(head, rows)}\n`;
  yield* leftOut(
    "as they cannot be measured",
    "decision",
    (statistics.evidence?.unmeasured ?? []).map(
      ({ file, environment, task, episode, decision, reason }) =>
        `${file === null ? "" : `${file}, `}${environment}/${task}, ${episode}, decision ${decision}: ${reason}`,
    ),
  );
  yield* leftOut(
    "as they cannot be read",
    "record",
    statistics.unreadable.map(({ file, line, reason }) => `${file}, line ${line}: ${reason}`),
  );
}

function* leftOut(why: string, what: string, lines: readonly string[]): Generator<string> {
  if (lines.length === 0) return;
  yield `\nleft out, ${why}: ${countOf(lines.length, what)}\n`;
  for (const line of lines) yield `  ${plainLine(line)}\n`;
}

function selectionLine({
  selection,
  tasks,
  tasksWithoutSources,
  recorded,
  graph,
  unreadable,
}: LibraryStatistics): string {
  const options = [
    `control ${selection.control ?? "graph"}`,
    selection.sourcesPerTask === undefined ? "no source budget" : `source budget ${selection.sourcesPerTask}`,
    `augmentation ${selection.augmentation === false ? "off" : "on"}`,
    ...(selection.terminalFailureNote === true ? ["terminal-failure note"] : []),
  ];
  const without = tasksWithoutSources === 0 ? "" : `, ${tasksWithoutSources} of them without sources`;
  const left = unreadable.length === 0 ? "" : `; ${countOf(unreadable.length, "more record")} cannot be read`;
  const sources = `${recorded} ${plural(recorded, "source")} over ${tasks} ${plural(tasks, "task")}`;
  return `${graph.sources} of ${sources}${without}${left}; ${options.join(", ")}`;
}
