import { expect, it } from "vitest";
import { StatisticsCollector } from "../../../core/statistics/index.ts";
import { leftOutTables } from "./left-out.ts";

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
  const tables = leftOutTables({
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
  const { title, rows } = leftOutTables({ ...new StatisticsCollector().result(), unreadable }).at(-1)!;
  expect(title).toBe("Unreadable, and in none of the figures: 1 record");
  expect(rows).toEqual([["s.jsonl, line 7", "not JSON"]]);
});
