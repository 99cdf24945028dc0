/** --cards, as the command line runs it: with a process per card. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { buildCli, runCli, startCli } from "../../../test/support/cli.ts";
import { modelFixture } from "../../../test/support/golden.ts";
import { tinyRecords } from "../../../test/support/tiny-records.ts";

const MODEL = modelFixture("tiny-a");
let script: string;
let folder: string;
beforeAll(async () => {
  script = await buildCli("cards");
  folder = mkdtempSync(join(tmpdir(), "gcopd-"));
  const line = (n: number) => {
    const prompt_ids = Array.from({ length: 20 + 5 * n }, (_, i) => (3 * i + n) % 1800);
    const response_ids = [5 + n, 6 + n, 7];
    return { prompt_ids, response_ids };
  };
  const all = Array.from({ length: 7 }, (_, n) => line(n));
  const text = (records: object[]) => records.map((record) => `${JSON.stringify(record)}\n`).join("");
  writeFileSync(join(folder, "requests.jsonl"), text(all.map((record, n) => ({ id: `r${n}`, ...record }))));
  const batch = all.map((record, n) => ({
    episode: `e${n % 3}`,
    ...record,
    teacher_logprobs: [-1, -2, -3],
    rollout_logprobs: [-1, -2, -2.5],
  }));
  writeFileSync(join(folder, "batch.jsonl"), text(batch));
});
afterAll(() => {
  rmSync(join(script, ".."), { recursive: true, force: true });
  rmSync(folder, { recursive: true, force: true });
});

async function cli(...args: string[]) {
  const { output, ended } = startCli(script, args);
  return { ...(await ended), ...output };
}
const file = (name: string) => join(folder, name);
const lines = <T>(text: string): T[] =>
  text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as T);

it("scores on two cards what it scores on one, and every process ends", async () => {
  const args = ["score", "--model", MODEL, "--in", file("requests.jsonl"), "--device", "cpu"];
  const one = await cli(...args);
  const two = await cli(...args, "--cards", "2");
  expect(two).toMatchObject({ code: 0, signal: null });
  expect(two.err).toContain("2 × plain TypeScript");
  type Scored = { id: string; logprobs: number[] };
  const [expected, got] = [lines<Scored>(one.out), lines<Scored>(two.out)];
  expect(got.map(({ id }) => id)).toEqual(expected.map(({ id }) => id));
  for (const [n, { logprobs }] of got.entries())
    for (const [i, value] of logprobs.entries())
      expect(Math.abs(value - expected[n]!.logprobs[i]!)).toBeLessThan(1e-4);
});

it("takes one step on two cards: the step that one takes, within float noise", async () => {
  const args = ["step", "--model", MODEL, "--in", file("batch.jsonl"), "--device", "cpu", "--lr", "1e-3"];
  const one = await cli(...args, "--out", file("one"));
  const two = await cli(...args, "--out", file("two"), "--cards", "0,1");
  expect(two).toMatchObject({ code: 0, signal: null });
  type Printed = { loss: number; grad_norm: number; items: object[] };
  const [expected, got] = [JSON.parse(one.out) as Printed, JSON.parse(two.out) as Printed];
  expect(Math.abs(got.loss - expected.loss)).toBeLessThan(1e-5);
  expect(Math.abs(got.grad_norm / expected.grad_norm - 1)).toBeLessThan(1e-5);
  expect(got.items).toHaveLength(expected.items.length);
  const size = (name: string) => readFileSync(join(file(name), "optimizer.safetensors")).length;
  expect(size("two")).toBe(size("one"));
});

/** Preloaded into every process: a card is killed as it sends its part of a sum. */
const KILLED_IN_A_SUM = `
  const send = process.send?.bind(process);
  if (send)
    process.send = (message, ...rest) =>
      message.type === "mail" ? process.kill(process.pid, "SIGKILL") : send(message, ...rest);`;

it("a card's process that is killed ends the command with one line, and leaves nothing in shared memory", async () => {
  const args = ["step", "--model", MODEL, "--in", file("batch.jsonl"), "--device", "cpu", "--cards", "2"];
  const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(KILLED_IN_A_SUM)}`;
  const { child, output, ended } = startCli(script, [...args, "--out", file("killed")], {
    env: { NODE_OPTIONS },
  });
  expect((await ended).code).toBe(1);
  expect(output.err).toMatch(/^gcopd: card [01].*: its process ended \(SIGKILL\)/m);
  expect(readdirSync("/dev/shm").filter((name) => name.startsWith(`gcopd-${child.pid}-`))).toEqual([]);
  expect(existsSync(file("killed"))).toBe(false);
});

it("trains on two cards the run that one takes, and goes on from its checkpoint with one", async () => {
  const { sources, episodes } = tinyRecords();
  const text = (records: object[]) => records.map((record) => `${JSON.stringify(record)}\n`).join("");
  writeFileSync(file("sources.jsonl"), text(sources));
  writeFileSync(file("episodes.jsonl"), text(episodes));
  const config = {
    library: "sources.jsonl",
    episodes: "episodes.jsonl",
    teacher: modelFixture("tiny-b"),
    student: MODEL,
    tokenizer: modelFixture("tokenizer"),
    batch_size: 2,
    settings: { learning_rate: 1e-4 },
    seed: 3,
    device: "cpu",
  };
  writeFileSync(file("train.json"), JSON.stringify(config));
  const run = async (out: string, ...args: string[]) => {
    const { code, err } = await cli("train", "--config", file("train.json"), "--out", file(out), ...args);
    expect(err).not.toContain("gcopd:");
    expect(code).toBe(0);
    type Step = { step: number; loss: number; gradNorm: number; meanAdvantage: number; tokens: number };
    return { err, steps: lines<Step>(readFileSync(join(file(out), "metrics.jsonl"), "utf8")) };
  };
  const one = await run("one-card");
  const two = await run("two-cards", "--cards", "2");
  expect(two.err).toContain("2 × plain TypeScript");
  // The same gradients, summed in another order: a few ulps of f32 (1.2e-7), which AdamW turns into steps that differ by
  // at most the learning rate where a gradient is that small. Over four steps of 1e-4 the loss moves by far less.
  const close = (got: number, expected: number) =>
    expect(Math.abs(got - expected)).toBeLessThan(1e-4 * Math.max(1, Math.abs(expected)));
  const same = (got: typeof one.steps, expected: typeof one.steps) => {
    expect(got.map(({ step, tokens }) => [step, tokens])).toEqual(
      expected.map(({ step, tokens }) => [step, tokens]),
    );
    for (const [n, step] of got.entries()) {
      close(step.loss, expected[n]!.loss);
      close(step.gradNorm, expected[n]!.gradNorm);
      close(step.meanAdvantage, expected[n]!.meanAdvantage);
    }
  };
  expect(one.steps.map(({ step }) => step)).toEqual([1, 2, 3, 4]);
  same(two.steps, one.steps);
  // The tolerance tells a run of another data order from this one.
  writeFileSync(file("train.json"), JSON.stringify({ ...config, seed: 4 }));
  const other = await run("other-seed");
  expect(() => same(other.steps, one.steps)).toThrow();
  // What two cards left, one goes on with: the first three steps are theirs, the last is taken again.
  writeFileSync(file("train.json"), JSON.stringify(config));
  rmSync(join(file("two-cards"), "checkpoints", "step-00000004"), { recursive: true });
  const on = await run("two-cards");
  expect(on.steps.slice(0, 3)).toEqual(two.steps.slice(0, 3));
  same(on.steps, one.steps);
});

it("bad input on a card is one line; bad numbers of cards are bad usage", async () => {
  const bad = await cli("score", "--model", file("nowhere"), "--in", file("requests.jsonl"), "--cards", "2");
  expect(bad.code).toBe(1);
  expect(bad.err).toMatch(/^gcopd: .*nowhere: no such folder\n$/m);
  for (const cards of ["0", "a", "1,,2", "-1"]) {
    const { code } = await runCli("score", "--model", MODEL, "--in", "x", "--cards", cards);
    expect(code).toBe(2);
  }
  const twice = await runCli(
    "score",
    "--model",
    MODEL,
    "--in",
    file("requests.jsonl"),
    "--device",
    "cpu",
    "--cards",
    "1,1",
  );
  expect(twice).toMatchObject({ code: 1, err: "gcopd: cards: a card is named twice\n" });
});

it("the command of a card's process is not for people", async () => {
  expect(await cli("serve-card")).toMatchObject({
    code: 2,
    out: "",
    err: "gcopd: serve-card is started by gcopd itself, for --cards\n",
  });
});
