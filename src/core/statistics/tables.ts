/** The paper's statistics as tables, for the page and the command line: in the paper's order, with the same rows. */
import { countOf } from "../plural.ts";
import type { EntryCounts } from "../retrieval/eligibility.ts";
import { REASON_TEXT } from "../retrieval/explain.ts";
import type { IneligibleReason } from "../retrieval/types.ts";
import type { DecisionStatistics, RelationCounts } from "./decision-statistics.ts";
import type { EvidenceSizes } from "./evidence-sizes.ts";
import type { GraphTotals } from "./graph-totals.ts";
import type { LibraryStatistics } from "./library-statistics.ts";

export interface StatisticsTable {
  title: string;
  /** The first cell heads the rows' names. */
  head: string[];
  rows: string[][];
  /** The cells after the first are words, not numbers. */
  words?: boolean;
}

const RELATIONS: [string, keyof RelationCounts][] = [
  ["current state", "current"],
  ["earlier student state (historical)", "historical"],
  ["unaligned", "unaligned"],
  ["unverified", "unverified"],
  ["none", "none"],
];

const GRAPH_ROWS: [string, keyof GraphTotals][] = [
  ["executions", "sources"],
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
  ["states of two or more executions", "sharedStates"],
  ["most executions at one state", "mostSourcesAtState"],
  ["edges", "edges"],
  ["edges of two or more executions", "sharedEdges"],
  ["self-loops", "selfLoops"],
  ["traversals", "traversals"],
];

const number = (value: number): string => value.toLocaleString("en");

/** A share in percent with two decimals, as the paper prints it; a dash of nothing. */
function share(count: number, total: number): string {
  return total === 0 ? "–" : `${((100 * count) / total).toFixed(2)} %`;
}

/** Every figure of a library; what was left out is no part of them. */
export function statisticsTables(statistics: LibraryStatistics): StatisticsTable[] {
  const { coverage, graph, decisions, entries, evidence, tasks } = statistics;
  return [
    ...(decisions === null ? [] : decisionTables(decisions)),
    {
      title: "Trusted-success coverage by source budget",
      head: ["K", "tasks covered", "share", "with planner and oracle", "share"],
      rows: coverage.map(({ sourcesPerTask, covered, coveredAugmented }) => [
        sourcesPerTask === null ? "all" : String(sourcesPerTask),
        number(covered),
        share(covered, tasks),
        number(coveredAugmented),
        share(coveredAugmented, tasks),
      ]),
    },
    entryTable(entries),
    {
      title: "Task graphs",
      head: ["", "count"],
      rows: GRAPH_ROWS.map(([name, key]) => [name, number(graph[key])]),
    },
    ...(evidence === null ? [] : [evidenceTable(evidence)]),
  ];
}

type Row = (name: string, count: number) => string[];

const rowOf =
  (total: number): Row =>
  (name, count) => [name, number(count), share(count, total)];

function decisionTables(counts: DecisionStatistics): StatisticsTable[] {
  const { decisions: total, episodes, wonEpisodes, success, failure, outcomes, cases, winners } = counts;
  const row = rowOf(total);
  return [
    {
      title: `References: ${countOf(total, "decision")} of ${countOf(episodes, "episode")} (${number(wonEpisodes)} won)`,
      head: ["relation", "successful", "share", "failed", "share"],
      rows: RELATIONS.map(([name, key]) => [
        name,
        ...[success, failure].flatMap((of) => [number(of[key]), share(of[key], total)]),
      ]),
    },
    {
      title: "Outcome composition of the retained references",
      head: ["external references", "decisions", "share"],
      rows: [
        row("successful record only", outcomes.successOnly),
        row("both outcomes", outcomes.both),
        row("failed record only", outcomes.failureOnly),
        row("with a record of unknown outcome", outcomes.unknown),
        row("no record", outcomes.none),
      ],
    },
    {
      title: "Retrieval",
      head: ["decisions", "count", "share"],
      rows: [
        row("all", total),
        row("locator matches a visit", counts.matched),
        row("matched, with an eligible success", cases.matched_success),
        row("matched, without one", cases.matched_no_success),
        row("unmatched, the student succeeded", cases.unmatched_success),
        row("unmatched, the student did not", cases.unmatched_failure),
        row("winner: an execution", winners.source),
        row("winner: the student’s own continuation", winners.student),
      ],
    },
  ];
}

function entryTable({ visits, eligible, ineligible }: EntryCounts): StatisticsTable {
  const row = rowOf(visits);
  return {
    title: "Where an execution can be entered",
    head: ["visits of trusted successes, before the last", "count", "share"],
    rows: [
      row("with a locator", visits),
      row("eligible as an entry", eligible),
      ...(Object.keys(REASON_TEXT) as IneligibleReason[]).flatMap((reason) =>
        ineligible[reason] === undefined ? [] : [row(`not: ${REASON_TEXT[reason]}`, ineligible[reason])],
      ),
    ],
  };
}

function evidenceTable({ unit, decisions, mean, p95, max, budget }: EvidenceSizes): StatisticsTable {
  const value = (size: number | null): string => (size === null ? "–" : number(Math.round(size * 10) / 10));
  return {
    title: `Evidence in ${unit}`,
    head: ["", "value"],
    rows: [
      ["decisions", number(decisions)],
      ["mean", value(mean)],
      ["95th percentile", value(p95)],
      ["largest", value(max)],
      ...(budget === null
        ? []
        : [
            ["over budget as plain text", number(budget.over)],
            ["over budget with back-references too", number(budget.refused)],
            ["prompt not recorded, evidence counted alone", number(budget.withoutPrompt)],
          ]),
    ],
  };
}
