import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { expect, it } from "vitest";
import type { Episode, Source } from "../../../core/record/schema.ts";
import { StatisticsCollector } from "../../../core/statistics/index.ts";
import { share, statisticsMarkdown, statisticsTables } from "./tables.ts";

function records<T>(name: string): T[] {
  const bytes = readFileSync(new URL(`../../../../test/fixtures/scienceworld/${name}`, import.meta.url));
  return gunzipSync(bytes)
    .toString()
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as T);
}

it("shows what was counted, each group of decisions adding up to all of them", () => {
  const task = "melt|12|easy";
  const collector = new StatisticsCollector();
  collector.add({
    environment: "scienceworld",
    task,
    sources: records<Source>("sources.jsonl.gz").filter((each) => each.task === task),
    episodes: records<Episode>("episodes.jsonl.gz").filter((each) => each.task === task),
  });
  const statistics = collector.result();
  const tables = statisticsTables(statistics);
  const total = statistics.decisions!.decisions;
  expect(total).toBeGreaterThan(0);
  const sum = (title: string, column: number): number =>
    tables
      .find((table) => table.title.startsWith(title))!
      .rows.reduce((all, row) => all + Number(row[column]!.replaceAll(",", "")), 0);
  expect(sum("References", 1)).toBe(total);
  expect(sum("References", 3)).toBe(total);
  expect(sum("Outcome composition", 1)).toBe(total);
  for (const { head, rows } of tables) for (const row of rows) expect(row).toHaveLength(head.length);
  const text = statisticsMarkdown("a|b", [{ title: "T", head: ["x", "y"], rows: [["p|q", "1"]] }]);
  expect(text).toBe("## a|b\n\n### T\n\n| x | y |\n| --- | ---: |\n| p\\|q | 1 |\n");
});

it("has no share of nothing", () => {
  expect([share(0, 0), share(1, 3), share(3, 3)]).toEqual(["–", "33.33 %", "100.00 %"]);
});
