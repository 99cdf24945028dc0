/** Tables of statistics as GitHub's Markdown. */
import type { StatisticsTable } from "../../../core/statistics/index.ts";

const cell = (text: string): string => text.replaceAll("|", "\\|");

/** All tables under one heading. */
export function statisticsMarkdown(heading: string, tables: readonly StatisticsTable[]): string {
  const parts = tables.map(({ title, head, rows }) => {
    const line = (cells: readonly string[]): string => `| ${cells.map(cell).join(" | ")} |`;
    const rule = line(head.map((_, i) => (i === 0 ? "---" : "---:")));
    return [`### ${title}`, "", line(head), rule, ...rows.map(line)].join("\n");
  });
  return `${[`## ${heading}`, ...parts].join("\n\n")}\n`;
}
