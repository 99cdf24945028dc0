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

it("names the decisions that were left out, as many as fit, and counts the others", () => {
  const collector = new StatisticsCollector();
  const evidence = {
    unit: "tokens",
    decisions: 0,
    mean: null,
    p95: null,
    max: null,
    budget: null,
    values: [],
  } as const;
  const unmeasured = Array.from({ length: 102 }, (_, decision) => ({
    file: "e.jsonl, line 3",
    environment: "webshop",
    task: "t",
    episode: "e#0",
    decision,
    reason: "a text of 20000000 characters",
  }));
  const tables = statisticsTables({
    ...collector.result(),
    evidence: { ...evidence, values: [], unmeasured },
  });
  const { title, rows } = tables.at(-1)!;
  expect(title).toBe("Left out of the evidence’s size: 102 decisions");
  expect(rows).toHaveLength(101);
  expect(rows[0]).toEqual(["e.jsonl, line 3, webshop/t, e#0, decision 0", "a text of 20000000 characters"]);
  expect(rows.at(-1)).toEqual(["and 2 more decisions", ""]);
});

it("lists the records that cannot be read by file and line", () => {
  const unreadable = [{ kind: null, file: "s.jsonl", line: 7, reason: "not JSON" }];
  const { title, rows } = statisticsTables({ ...new StatisticsCollector().result(), unreadable }).at(-1)!;
  expect(title).toBe("Unreadable, and in none of the figures: 1 record");
  expect(rows).toEqual([["s.jsonl, line 7", "not JSON"]]);
});

it("has no share of nothing", () => {
  expect([share(0, 0), share(1, 3), share(3, 3)]).toEqual(["–", "33.33 %", "100.00 %"]);
});
