/** The paper's statistics as tables: the same rows on the screen and as Markdown. */

import { countOf } from "../../../core/plural.ts";
import type { GraphTotals, LibraryStatistics, RelationCounts } from "../../../core/statistics/index.ts";
import { shownName } from "../../base/text/shown-text.ts";

export interface StatisticsTable {
  title: string;
  head: string[];
  rows: string[][];
  /** The cells after the first are words, not numbers. */
  words?: boolean;
}

/** Rows of what was left out; more are counted. */
const MOST_LEFT_OUT = 100;

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
  ["visits", "visits"],
  ["visits with a locator", "locatedVisits"],
  ["states", "states"],
  ["states of two or more executions", "sharedStates"],
  ["most executions at one state", "mostSourcesAtState"],
  ["edges", "edges"],
  ["edges of two or more executions", "sharedEdges"],
  ["self-loops", "selfLoops"],
];

const number = (value: number): string => value.toLocaleString("en");

/** A share in per cent with two decimals, as the paper prints it; a dash of nothing. */
export function share(count: number, total: number): string {
  return total === 0 ? "–" : `${((100 * count) / total).toFixed(2)} %`;
}

/** `title` says of what; `place` gives the parts of a row's name. */
function leftOutTable<T extends { reason: string }>(
  title: string,
  what: string,
  all: readonly T[],
  place: (one: T) => (string | null)[],
): StatisticsTable {
  const more = all.length - MOST_LEFT_OUT;
  return {
    title: `${title}: ${countOf(all.length, what)}`,
    head: ["record", "reason"],
    rows: [
      ...all.slice(0, MOST_LEFT_OUT).map((one) => [
        place(one)
          .filter((part) => part !== null)
          .map((part) => shownName(part, 120))
          .join(", "),
        shownName(one.reason, 1000),
      ]),
      ...(more > 0 ? [[`and ${countOf(more, `more ${what}`)}`, ""]] : []),
    ],
    words: true,
  };
}

export function statisticsTables(statistics: LibraryStatistics): StatisticsTable[] {
  const { coverage, graph, decisions, evidence, tasks, unreadable } = statistics;
  const tables: StatisticsTable[] = [
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
  ];
  if (decisions !== null) {
    const { decisions: total, success, failure, outcomes, cases, winners } = decisions;
    const row = (name: string, count: number): string[] => [name, number(count), share(count, total)];
    tables.push(
      {
        title: "References of the decisions",
        head: ["relation", "successful", "share", "failed", "share"],
        rows: RELATIONS.map(([name, key]) => [
          name,
          number(success[key]),
          share(success[key], total),
          number(failure[key]),
          share(failure[key], total),
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
          row("locator matches a visit", decisions.matched),
          row("matched, with an eligible success", cases.matched_success),
          row("matched, without one", cases.matched_no_success),
          row("unmatched, the student succeeded", cases.unmatched_success),
          row("unmatched, the student did not", cases.unmatched_failure),
          row("winner: an execution", winners.source),
          row("winner: the student’s own continuation", winners.student),
        ],
      },
    );
  }
  tables.push({
    title: "Task graphs",
    head: ["", "count"],
    rows: GRAPH_ROWS.map(([name, key]) => [name, number(graph[key])]),
  });
  if (evidence !== null) {
    const { unit, mean, p95, max, budget, unmeasured } = evidence;
    const value = (size: number | null): string => (size === null ? "–" : number(Math.round(size * 10) / 10));
    tables.push({
      title: `Evidence in ${unit}`,
      head: ["", "value"],
      rows: [
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
    });
    if (unmeasured.length > 0) {
      tables.push(
        leftOutTable(
          "Left out of the evidence’s size",
          "decision",
          unmeasured,
          ({ file, environment, task, episode, decision }) => [
            file,
            `${environment}/${task}`,
            episode,
            `decision ${decision}`,
          ],
        ),
      );
    }
  }
  if (unreadable.length > 0) {
    tables.push(
      leftOutTable("Unreadable, and in none of the figures", "record", unreadable, ({ file, line }) => [
        file,
        `line ${line}`,
      ]),
    );
  }
  return tables;
}

const cell = (text: string): string => text.replaceAll("|", "\\|");

/** All tables as GitHub's Markdown, under one heading. */
export function statisticsMarkdown(heading: string, tables: readonly StatisticsTable[]): string {
  const parts = tables.map(({ title, head, rows }) => {
    const line = (cells: readonly string[]): string => `| ${cells.map(cell).join(" | ")} |`;
    const rule = line(head.map((_, i) => (i === 0 ? "---" : "---:")));
    return [`### ${title}`, "", line(head), rule, ...rows.map(line)].join("\n");
  });
  return `${[`## ${heading}`, ...parts].join("\n\n")}\n`;
}
