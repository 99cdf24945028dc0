/** What is in none of the figures, as tables. */
import { countOf } from "../../../core/plural.ts";
import type { LibraryStatistics, StatisticsTable } from "../../../core/statistics/index.ts";
import { shownName } from "../../base/text/shown-text.ts";

/** Rows of what was left out; more are counted. */
const MOST_LEFT_OUT = 100;

/** `title` says of what; `place` gives the parts of a row's name. */
function leftOutTable<T extends { reason: string }>(
  title: string,
  what: string,
  all: readonly T[],
  place: (one: T) => (string | null)[],
): StatisticsTable[] {
  if (all.length === 0) return [];
  const more = all.length - MOST_LEFT_OUT;
  return [
    {
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
    },
  ];
}

export const leftOutTables = ({ evidence, unreadable }: LibraryStatistics): StatisticsTable[] => [
  ...leftOutTable(
    "Left out of the evidence’s size",
    "decision",
    evidence?.unmeasured ?? [],
    ({ file, environment, task, episode, decision }) => [
      file,
      `${environment}/${task}`,
      episode,
      `decision ${decision}`,
    ],
  ),
  ...leftOutTable("Unreadable, and in none of the figures", "record", unreadable, ({ file, line }) => [
    file,
    `line ${line}`,
  ]),
];
