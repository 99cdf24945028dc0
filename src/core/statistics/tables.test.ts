import { expect, it } from "vitest";
import { fixtureEpisodes, fixtureSources } from "../../../test/support/scienceworld.ts";
import { StatisticsCollector } from "./library-statistics.ts";
import { statisticsTables } from "./tables.ts";

it("shows what was counted, each group of decisions adding up to all of them", () => {
  const task = "melt|12|easy";
  const collector = new StatisticsCollector();
  collector.add({
    environment: "scienceworld",
    task,
    sources: fixtureSources().filter((each) => each.task === task),
    episodes: fixtureEpisodes().filter((each) => each.task === task),
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
  const entries = tables.find(({ title }) => title.startsWith("Where"))!.rows;
  expect(entries[0]).toEqual(["with a locator", String(statistics.entries.visits), "100.00 %"]);
  expect(entries.length).toBe(2 + Object.keys(statistics.entries.ineligible).length);
});

it("has no share of nothing", () => {
  const [coverage, entries] = statisticsTables(new StatisticsCollector().result());
  expect(coverage!.rows[0]).toEqual(["1", "0", "–", "0", "–"]);
  expect(entries!.rows).toEqual([
    ["with a locator", "0", "–"],
    ["eligible as an entry", "0", "–"],
  ]);
});
