import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { writeResults } from "./grid-results.ts";

const folder = mkdtempSync(join(tmpdir(), "gcopd-grid-results-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it("counts episodes that the replayed reference left no turn apart from those that broke off", async () => {
  const at = { stage: 0, epoch: 0, batch: 0 };
  const excluded = (step: number, episodes: object[]) => ({
    type: "excluded",
    step,
    ...at,
    episodes,
    of: 4,
    steps: 2,
  });
  const events = [
    { type: "start", step: 0, units: 8 },
    { type: "rollout", step: 1, ...at, episodes: 4 },
    // As runs of an earlier version told it.
    excluded(1, [{ episode: "a", reason: null }]),
    { type: "rollout", step: 2, ...at, episodes: 4 },
    excluded(2, [
      { episode: "b", reason: "no answer" },
      { episode: "c", reason: "no turn", noTurn: true },
      { episode: "d", reason: "no turn", noTurn: true },
    ]),
    { type: "done", step: 2 },
  ];
  const run = "cells/tcod-b2f-seed-1";
  mkdirSync(join(folder, run), { recursive: true });
  writeFileSync(
    join(folder, run, "events.jsonl"),
    events.map((event) => `${JSON.stringify(event)}\n`).join(""),
  );
  const { cells, deviations } = await writeResults(
    {
      methods: [{ id: "tcod-b2f", label: "TCOD-B2F" }],
      ...{ seeds: [1], epochs: 1, collect: null, evaluations: [], checkpoints: ["final"] },
      runs: [],
      cells: [{ method: "tcod-b2f", seed: 1, run, parent: null }],
    },
    { measured: [], deviations: [] },
    { environment: "alfworld", notes: [] },
    (name) => join(folder, name),
  );
  expect(cells[0]!.episodes).toEqual({ sampled: 8, left_out: 4, no_turn: 2 });
  expect(deviations.map(({ kind, reason }) => [kind, reason])).toEqual([
    ["technical", "2 of 8 episodes ended for a technical reason: no update took them"],
    ["no turn", "2 of 8 episodes had nothing to train on: no update took them"],
  ]);
});
