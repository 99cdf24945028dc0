import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { buildCli, startCli } from "../../../test/support/cli.ts";
import { uniforms } from "../../core/seeded.ts";

const KILLS = 10;
/** Kills that one folder survives before it is left to end. */
const KILLS_A_FOLDER = 4;

const models = resolve(import.meta.dirname, "../../../test/fixtures/models");
const folder = mkdtempSync(join(tmpdir(), "gcopd-killed-"));
let script = "";
beforeAll(async () => {
  script = await buildCli("killed");
});
afterAll(() => {
  rmSync(join(script, ".."), { recursive: true, force: true });
  rmSync(folder, { recursive: true, force: true });
});

const common = {
  environment: { name: "alfworld", made: { count: 1, seed: 1 }, max_decisions: 2, max_tokens: 2 },
  model: join(models, "tiny-a"),
  tokenizer: join(models, "tokenizer"),
  device: "cpu",
  at_once: 2,
};

/** Every file with what it holds; the lock says nothing, and how long it took differs. */
function contents(out: string): Record<string, string> {
  const names = readdirSync(out).filter((name) => !name.startsWith("lock.") && name !== "seconds.jsonl");
  return Object.fromEntries(names.sort().map((name) => [name, readFileSync(join(out, name), "utf8")]));
}

const sizeOf = (file: string): number => (existsSync(file) ? statSync(file).size : 0);

/** Starts the command, and watches how much it has played. */
function started(command: string, config: string, out: string) {
  const { child, ended, output } = startCli(script, [command, "--config", config, "--out", out]);
  const progress = join(out, "progress.jsonl");
  let over = false;
  const done = ended.finally(() => {
    over = true;
  });
  return { child, done, output, isOver: () => over, played: () => sizeOf(progress) };
}

async function toItsEnd(command: string, config: string, out: string): Promise<{ played: number }> {
  const run = started(command, config, out);
  let played = 0;
  while (!run.isOver()) {
    played = Math.max(played, run.played());
    await pause(2);
  }
  expect(await run.done, run.output.err).toEqual({ code: 0, signal: null });
  return { played };
}

it.each([
  ["collect", { repetitions: 5, top_k: 3 }, ["run.json", "sources.jsonl"]],
  ["evaluate", { seeds: [0, 1, 2, 3, 4, 5] }, ["episodes.jsonl", "results.json", "run.json"]],
])(
  "gcopd %s, killed at ten random points, ends with the files of a run that nothing disturbed",
  async (command, more, files) => {
    const config = join(folder, `${command}.json`);
    writeFileSync(config, JSON.stringify({ ...common, ...more }));
    const whole = join(folder, `${command}-whole`);
    const { played: all } = await toItsEnd(command, config, whole);
    const expected = contents(whole);
    expect(Object.keys(expected)).toEqual(files);
    expect(all).toBeGreaterThan(1_000);

    const uniform = uniforms(20);
    let [kills, resumed] = [0, 0];
    for (let n = 0; kills < KILLS; n += 1) {
      const out = join(folder, `${command}-${n}`);
      for (let here = 0; here < KILLS_A_FOLDER && kills < KILLS; here += 1) {
        const run = started(command, config, out);
        // Some part of what is left to play, and some moment after it.
        const [share, delay] = [uniform(), 60 * uniform()];
        const begun = sizeOf(join(out, "progress.jsonl"));
        if (begun > 0) resumed += 1;
        const until = begun + share * (all - begun);
        while (!run.isOver() && run.played() < until) await pause(1);
        await pause(delay);
        run.child.kill("SIGKILL");
        const { signal } = await run.done;
        if (signal === null) break;
        kills += 1;
      }
      await toItsEnd(command, config, out);
      expect(contents(out), `after ${kills} kills`).toEqual(expected);
    }
    expect(resumed).toBeGreaterThanOrEqual(KILLS / 3);
  },
);
