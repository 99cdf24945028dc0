import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { buildCli, runCli, startCli } from "../../../test/support/cli.ts";
import { fake, Pending, until } from "../../../test/support/fake.ts";
import { gridConfig } from "../../../test/support/grid.ts";
import type { ExperimentResults } from "../../core/loop/index.ts";
import type { GridParts } from "./grid-parts.ts";
import type { PartEnd } from "./part.ts";
import { type PartProcess, startPart } from "./part-process.ts";
import { freestCard, sideBySide } from "./side-by-side.ts";

vi.mock("./part-process.ts", () => ({ startPart: vi.fn() }));

const folder = mkdtempSync(join(tmpdir(), "gcopd-side-by-side-"));
let script = "";
beforeAll(async () => {
  script = await buildCli("side-by-side");
});
afterAll(() => {
  rmSync(join(script, ".."), { recursive: true, force: true });
  rmSync(folder, { recursive: true, force: true });
});

// The best student of both is their parent's last one: who plays it is known only when both have ended.
const config = gridConfig({
  environment: {
    name: "alfworld",
    made: { count: 1, seed: 1, size: "small" },
    max_decisions: 1,
    max_tokens: 1,
  },
  methods: ["opd", "gc-opd"],
  seeds: [1, 2],
  checkpoints: ["final", "best", { every: 1 }],
  train: { evaluate: { every: 1, seeds: [5] } },
});
const file = join(folder, "config.json");
writeFileSync(file, JSON.stringify(config));
const started = (out: string, ...options: string[]) =>
  startCli(script, ["experiment", "--config", file, "--out", join(folder, out), ...options]);
const resultsOf = (out: string): ExperimentResults =>
  JSON.parse(readFileSync(join(folder, out, "results.json"), "utf8"));
const figures = (out: string) => [
  resultsOf(out),
  ...["opd-seed-1", "gc-opd-seed-1", "opd-seed-2", "gc-opd-seed-2"].map((cell) =>
    readFileSync(join(folder, out, "cells", cell, "student/model.safetensors"), "latin1"),
  ),
];

it("gives what one part after the other gives, stopped by its time and by a signal in between", async () => {
  const alone = started("alone");
  expect((await alone.ended).code, alone.output.err).toBe(0);
  const over = started("pieces", "--at-once", "2", "--minutes", "0.005");
  expect((await over.ended).code, over.output.err).toBe(3);
  expect(resultsOf("pieces").deviations).toMatchObject([{ kind: "time" }]);
  expect(over.output.out).toContain("time: the time was over before the end; the same command goes on");

  const stopped = startCli(
    script,
    ["experiment", "--config", file, "--out", join(folder, "pieces"), "--at-once", "2"],
    { at: { text: "cells/opd-seed-1: training", signal: "SIGTERM" } },
  );
  expect((await stopped.ended).code, stopped.output.err).toBe(143);
  expect(stopped.output.err).toContain("interrupted; the same command goes on with what is there");

  const last = started("pieces", "--at-once", "3");
  expect((await last.ended).code, last.output.err).toBe(0);
  expect(figures("pieces")).toEqual(figures("alone"));
  expect(existsSync(join(folder, "pieces/evaluations/alfworld/cells/opd-seed-1/best"))).toBe(
    existsSync(join(folder, "alone/evaluations/alfworld/cells/opd-seed-1/best")),
  );
});

it("tells a part that failed, and ends no other", async () => {
  // Its only checkpoint is damaged: this cell cannot go on.
  mkdirSync(join(folder, "failing/cells/gc-opd-seed-1/checkpoints/step-00000002"), { recursive: true });
  const failing = started("failing", "--at-once", "2");
  expect((await failing.ended).code, failing.output.err).toBe(1);
  const { deviations, tables } = resultsOf("failing");
  expect(deviations).toMatchObject([{ part: "cells/gc-opd-seed-1", kind: "failed" }]);
  expect(failing.output.err).toMatch(/^gcopd: cells\/gc-opd-seed-1: failed: .*step-00000002/m);
  expect(tables[0]!.methods.map(({ method, sr }) => [method, sr.n])).toEqual([
    ["opd", 2],
    ["gc-opd", 1],
  ]);
});

it("is of comparisons that run", async () => {
  const planned = await runCli("experiment", "--config", file, "--plan", "--at-once", "2");
  expect([planned.code, planned.err]).toEqual([2, expect.stringContaining("do not go with --plan")]);
  const { methods: _, seeds: __, checkpoints: ___, ...single } = config as Record<string, unknown>;
  const one = join(folder, "single.json");
  writeFileSync(one, JSON.stringify(single));
  const refused = await runCli("experiment", "--config", one, "--out", join(folder, "one"), "--minutes", "1");
  expect([refused.code, refused.err]).toEqual([1, expect.stringContaining("single.json, methods: missing")]);
});

it("a part whose parent is gone before it could hear of that does not begin", async () => {
  const out = join(folder, "orphan");
  const part = spawn(
    process.execPath,
    [script, "experiment-part", "--command", "train", "--config", file, "--out", out],
    { stdio: ["ignore", "ignore", "pipe", "ipc"] },
  );
  part.disconnect();
  expect(await Promise.all([once(part, "exit"), text(part.stderr!)])).toEqual([[1, null], ""]);
});

it("spreads parts over cards, which goes with --at-once alone", async () => {
  const alone = await runCli("experiment", "--config", file, "--out", join(folder, "cards"), "--cards", "2");
  expect([alone.code, alone.err]).toEqual([2, expect.stringContaining("--cards goes with --at-once")]);
  expect(freestCard(new Map())).toBeNull();
  expect(
    freestCard(
      new Map([
        [1, 0],
        [3, 0],
      ]),
    ),
  ).toBe(1);
  expect(
    freestCard(
      new Map([
        [1, 2],
        [3, 1],
      ]),
    ),
  ).toBe(3);
});

it("asks a part once to end after its step, whether the time was over or a person asked; twice for asking twice", async () => {
  const part = { name: "evaluations/a", evaluation: "a", command: "evaluate", config: {} };
  const parts = fake<GridParts>({
    ...{ library: null, untrained: [part], grid: { runs: [] }, isDone: () => false },
    ...{ claim: async () => undefined, inside: (name: string) => name },
  } as never);
  const [ended, stop] = [new Pending<PartEnd>(), vi.fn()];
  vi.mocked(startPart).mockReturnValue({ ended: ended.promise, stop } satisfies PartProcess);
  const going = sideBySide(parts, { atOnce: 1, minutes: 1 / 60_000 });
  try {
    await until(() => expect(stop).toHaveBeenCalledTimes(1));
    process.emit("SIGINT");
    expect(stop).toHaveBeenCalledTimes(1);
    process.emit("SIGINT");
    expect(stop).toHaveBeenCalledTimes(2);
  } finally {
    ended.resolve({ kind: "interrupted" });
    await going;
    process.exitCode = 0;
  }
});
