import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { buildCli, startCli } from "../../../test/support/cli.ts";
import { gridConfig } from "../../../test/support/grid.ts";
import { uniforms } from "../../core/seeded.ts";

/** Kills that one folder survives before it is left to end. */
const KILLS_A_FOLDER = 5;

const folder = mkdtempSync(join(tmpdir(), "gcopd-grid-killed-"));
let script = "";
beforeAll(async () => {
  script = await buildCli("grid-killed");
});
afterAll(() => {
  rmSync(join(script, ".."), { recursive: true, force: true });
  rmSync(folder, { recursive: true, force: true });
});

const config = gridConfig({
  environment: {
    name: "alfworld",
    made: { count: 1, seed: 1, size: "small" },
    max_decisions: 1,
    max_tokens: 1,
  },
  methods: ["opd", "gc-opd"],
  seeds: [1],
});

/** What has to be the same, however often it was killed. */
const figures = (out: string) =>
  [
    ...["results.json", "results.csv", "cells.csv", "results.tex", "results.txt", "library/sources.jsonl"],
    ...["cells/opd-seed-1/student/model.safetensors", "cells/gc-opd-seed-1/student/model.safetensors"],
  ].map((name) => [name, readFileSync(join(out, name), "latin1")]);

function started(out: string, options: readonly string[]) {
  const file = join(folder, "config.json");
  writeFileSync(file, JSON.stringify(config));
  const { child, ended, output } = startCli(script, [
    ...["experiment", "--config", file, "--out", out],
    ...options,
  ]);
  let over = false;
  const done = ended.finally(() => {
    over = true;
  });
  return { child, done, output, isOver: () => over, lines: () => output.err.split("\n").length - 1 };
}

/** Of a run that nothing disturbed, one part after the other. */
let expected: ReturnType<typeof figures>;
let all = 0;
beforeAll(async () => {
  const whole = started(join(folder, "whole"), []);
  expect(await whole.done, whole.output.err).toEqual({ code: 0, signal: null });
  expected = figures(join(folder, "whole"));
  all = whole.lines();
  expect(all).toBeGreaterThan(20);
});

it.each([
  { kills: 10, how: "one part after the other", options: [] },
  { kills: 5, how: "two side by side", options: ["--at-once", "2"] },
])(
  "killed at $kills random points, $how, ends with the same results and weights",
  async ({ kills, how, options }) => {
    const uniform = uniforms(15);
    const points: string[] = [];
    for (let n = 0; points.length < kills; n += 1) {
      const out = join(folder, `${how}-${n}`);
      for (let here = 0; here < KILLS_A_FOLDER && points.length < kills; here += 1) {
        const run = started(out, options);
        // Some line of what is told, and some moment after it.
        const [until, delay] = [Math.floor((uniform() * all) / 2), 150 * uniform()];
        while (!run.isOver() && run.lines() < until) await pause(1);
        await pause(delay);
        run.child.kill("SIGKILL");
        const { signal } = await run.done;
        if (signal === null) break;
        points.push(run.output.err.trim().split("\n").at(-1) ?? "");
      }
      const last = started(out, options);
      expect(await last.done, last.output.err).toEqual({ code: 0, signal: null });
      expect(figures(out), points.join("\n")).toEqual(expected);
    }
    // Inside different parts.
    expect(new Set(points).size).toBeGreaterThan(kills / 3);
  },
);
