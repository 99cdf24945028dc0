import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { cellsFile, cellsOf, joined, type RegisteredCell, readCells } from "./cells.ts";
import { registeredResults } from "./registered-results.ts";
import { readRegistration } from "./registration.ts";

const folder = mkdtempSync(join(tmpdir(), "cells-"));
afterAll(() => rmSync(folder, { recursive: true }));
const registration = readRegistration("configs/miniature/registered.json");

const cell = (method: string, unseen: number): RegisteredCell => ({
  ...{ world: 1011, method, seed: 1, unseen, seen: null },
  curve: [[0, 10]],
  sampled_from: 1,
  sampled: [3],
});

const write = (path: string, text: string): void => {
  mkdirSync(join(folder, path, ".."), { recursive: true });
  writeFileSync(join(folder, path), text);
};
const lines = (events: object[]): string => events.map((event) => `${JSON.stringify(event)}\n`).join("");

it("takes figures from results and events: the parent's curve, and steps that were told twice once", async () => {
  const rollout = (step: number, successes: number) => ({ type: "rollout", step, successes });
  const evaluated = (step: number, mean: number) => ({ type: "evaluated", step, sr: { mean } });
  write("runs/parents/v/events.jsonl", lines([evaluated(0, 12.5), rollout(1, 4), evaluated(1, 25)]));
  const sampled = Array.from({ length: 11 }, (_, n) => rollout(n + 2, n));
  write(
    "runs/cells/a/events.jsonl",
    lines([evaluated(1, 25), rollout(2, 9), ...sampled, evaluated(12, 100 / 3), { type: "done" }]),
  );
  const table = (evaluation: string, mean: number) => ({
    evaluation,
    cells: [{ method: "a", training_seed: 1, sr: { mean } }],
  });
  const one = { method: "a", seed: 1, run: "cells/a", parent: "parents/v" };
  const unfinished = { method: "b", seed: 1, run: "cells/b", parent: null };
  const results = { cells: [one, unfinished], tables: [table("unseen", 200 / 3), table("seen", 50)] };
  write("runs/results.json", JSON.stringify(results));
  expect(await cellsOf(7, join(folder, "runs"))).toEqual([
    {
      ...{ world: 7, method: "a", seed: 1, unseen: 66.67, seen: 50 },
      curve: [
        [0, 12.5],
        [1, 25],
        [12, 33.33],
      ],
      sampled_from: 2,
      // The first ten, and what is left.
      sampled: [4.5, 10],
    },
  ]);
  expect(await cellsOf(7, join(folder, "nothing"))).toEqual([]);
});

it("writes and reads cells, joins those of several machines, and refuses two results of one training", async () => {
  const cells = [cell("gc-opd", 70), cell("opd", 50)];
  write("cells.json", cellsFile(cells, registration));
  expect(await readCells(join(folder, "cells.json"))).toEqual(cells);
  expect(joined([[cells[1]!], cells])).toEqual(cells);
  const measured = { ...cells[0]!, seen: 60 };
  expect(joined([[cells[0]!], [measured], [cells[0]!]])).toEqual([measured]);
  expect(() => joined([cells, [cell("opd", 51)]])).toThrow(
    "world 1011, opd, seed 1: 50 % in one file, 51 % in another",
  );
});

it("refuses what is not registered", () => {
  expect(() => registeredResults(registration, [cell("other", 1)], [])).toThrow(
    "world 1011, other, seed 1 is not registered",
  );
});
