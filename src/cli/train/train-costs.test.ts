import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { trainCosts } from "./train-costs.ts";

const folder = mkdtempSync(join(tmpdir(), "gcopd-costs-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it("counts playing bridges as rollout, and scoring them as scoring", () => {
  const student = { device: "cpu", adapter: "plain" };
  const at = (second: number) => new Date(second * 1000).toISOString();
  const events = [
    { time: at(0), type: "start", student, spent: 0 },
    { time: at(4), type: "rollout", seconds: 4 },
    { time: at(6), type: "scored", seconds: 2 },
    { time: at(14), type: "bridged", seconds: 8, playSeconds: 5, scoreSeconds: 3 },
    { time: at(20), type: "updated", seconds: 20, updateSeconds: 6 },
    // As runs of an earlier version told it: nobody knows its parts.
    { time: at(27), type: "bridged", seconds: 7 },
  ];
  writeFileSync(join(folder, "events.jsonl"), events.map((event) => `${JSON.stringify(event)}\n`).join(""));
  expect(trainCosts(folder).map(({ stage, seconds }) => [stage, seconds])).toEqual([
    ...[
      ["rollout", 9],
      ["scoring", 5],
      ["update", 6],
      ["evaluation", 0],
      ["other", 7],
    ],
  ]);
});
