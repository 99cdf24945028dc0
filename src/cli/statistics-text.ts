/** Statistics for a reader (tables in the paper's order) and for a program (names in snake_case). */
import { plainLine } from "../core/plain-text.ts";
import { countOf, plural } from "../core/plural.ts";
import type { EntryCounts } from "../core/retrieval/eligibility.ts";
import { REASON_TEXT } from "../core/retrieval/explain.ts";
import type { IneligibleReason } from "../core/retrieval/types.ts";
import type {
  DecisionStatistics,
  EvidenceSizes,
  GraphTotals,
  LibraryStatistics,
  RelationCounts,
} from "../core/statistics/index.ts";
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

/**
 * The tables: references and outcome composition over the decisions, coverage by source budget (Section "Ablation and
 * Analysis"), size of the graphs (appendix, "Representation size"), and the evidence's length.
 */
export function* statisticsText(statistics: LibraryStatistics): Generator<string> {
  const { decisions, evidence, graph, tasks } = statistics;
  yield `${selectionLine(statistics)}\n`;
  if (decisions !== null) {
    yield `\n${references(decisions)}\n`;
    yield `\n${composition(decisions)}\n`;
  }
  yield `\n${table(
    [
      "source budget K",
      "tasks with a trusted success",
      "share",
      "with planner and oracle added",
      "share with them",
    ],
    statistics.coverage.map(({ sourcesPerTask, covered, coveredAugmented }) => [
      sourcesPerTask ?? "all",
      covered,
      share(covered, tasks),
      coveredAugmented,
      share(coveredAugmented, tasks),
    ]),
  )}\n`;
  yield `\n${entryTable(statistics.entries)}\n`;
  yield `\n${table(
    ["graph", "count"],
    GRAPH_ROWS.map(([name, key]) => [name, graph[key]]),
  )}\n`;
  if (evidence !== null) yield `\n${evidenceTable(evidence)}\n`;
  yield* leftOut(
    "as they cannot be measured",
    "decision",
    (evidence?.unmeasured ?? []).map(
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

const RELATIONS: [string, keyof RelationCounts][] = [
  ["current state", "current"],
  ["earlier student state (historical)", "historical"],
  ["unaligned", "unaligned"],
  ["unverified", "unverified"],
  ["none", "none"],
];

function references(counts: DecisionStatistics): string {
  const { decisions: total } = counts;
  const row = (name: string, count: number) => [name, count, share(count, total)];
  return table(
    [
      `${total} ${plural(total, "decision")} of ${counts.episodes} ${plural(counts.episodes, "episode")} (${counts.wonEpisodes} won)`,
      "count",
      "share",
    ],
    [
      row("locator matches an indexed visit", counts.matched),
      ...RELATIONS.map(([name, key]) => row(`successful reference: ${name}`, counts.success[key])),
      ...RELATIONS.map(([name, key]) => row(`failed reference: ${name}`, counts.failure[key])),
      row("winner of the ranking: a source", counts.winners.source),
      row("winner of the ranking: the student", counts.winners.student),
      row("matched, with an eligible success", counts.cases.matched_success),
      row("matched, without one", counts.cases.matched_no_success),
      row("unmatched, the student succeeded", counts.cases.unmatched_success),
      row("unmatched, the student failed", counts.cases.unmatched_failure),
    ],
  );
}

function composition({ decisions, outcomes }: DecisionStatistics): string {
  const row = (name: string, count: number) => [name, count, share(count, decisions)];
  return table(
    ["external references of a decision", "count", "share"],
    [
      row("successful record only", outcomes.successOnly),
      row("both outcomes", outcomes.both),
      row("failed record only", outcomes.failureOnly),
      row("with a record of unknown outcome", outcomes.unknown),
      row("no record", outcomes.none),
    ],
  );
}

function entryTable({ visits, eligible, ineligible }: EntryCounts): string {
  const row = (name: string, count: number) => [name, count, share(count, visits)];
  return table(
    ["visits of trusted successes, before the last", "count", "share"],
    [
      row("with a locator", visits),
      row("eligible as an entry", eligible),
      ...(Object.keys(REASON_TEXT) as IneligibleReason[]).flatMap((reason) =>
        ineligible[reason] === undefined ? [] : [row(`not: ${REASON_TEXT[reason]}`, ineligible[reason])],
      ),
    ],
  );
}

const GRAPH_ROWS: [string, keyof GraphTotals][] = [
  ["sources", "sources"],
  ["trusted successes", "successes"],
  ["trusted failures", "failures"],
  ["claimed successes that replay did not confirm", "refuted"],
  ["untrusted records", "untrusted"],
  ["decisions", "decisions"],
  ["noncommitted attempts", "attempts"],
  ["recording gaps", "gaps"],
  ["visits", "visits"],
  ["visits with a locator", "locatedVisits"],
  ["states", "states"],
  ["states of two or more sources", "sharedStates"],
  ["most sources at one state", "mostSourcesAtState"],
  ["edges", "edges"],
  ["edges of two or more sources", "sharedEdges"],
  ["self-loops", "selfLoops"],
  ["traversals", "traversals"],
];

function evidenceTable({ unit, decisions, mean, p95, max, budget }: EvidenceSizes): string {
  return table(
    [`evidence in ${unit}, of ${decisions} ${plural(decisions, "decision")}`, "value"],
    [
      ["mean", mean === null ? "–" : mean.toFixed(1)],
      ["95th percentile", p95 ?? "–"],
      ["largest", max ?? "–"],
      ...(budget === null
        ? []
        : [
            ["over budget as plain text", budget.over],
            ["over budget with back-references too", budget.refused],
            ["prompt not recorded, evidence counted alone", budget.withoutPrompt],
          ]),
    ],
  );
}

function share(count: number, total: number): string {
  return total === 0 ? "–" : `${((100 * count) / total).toFixed(2)}%`;
}
