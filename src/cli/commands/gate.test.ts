/** The evidence test on a handful of decisions and a model of a few thousand parameters, as the command line runs it. */
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { runCli } from "../../../test/support/cli.ts";
import { modelFixture } from "../../../test/support/golden.ts";
import { tinyRecords } from "../../../test/support/tiny-records.ts";
import { InputError } from "../../core/errors.ts";
import { AppendFile } from "../../node/append-file.ts";

const MODEL = modelFixture("tiny-a");
const TOKENIZER = modelFixture("tokenizer");
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "gcopd-gate-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const { sources, episodes } = tinyRecords();
const OPTIMAL = episodes.flatMap(({ task, episode, decisions }) =>
  decisions.map((_, decision) => ({ task, episode, decision, optimal: ["open door"] })),
);

function write(name: string, records: readonly object[]): string {
  const path = join(folder, name);
  writeFileSync(path, records.map((record) => `${JSON.stringify(record)}\n`).join(""));
  return path;
}

async function gate(optimal: readonly object[], ...options: string[]) {
  const out = join(folder, "gate.json");
  const decisions = join(folder, "decisions.jsonl");
  const result = await runCli(
    ...[
      "gate",
      "--library",
      write("sources.jsonl", sources),
      "--episodes",
      write("episodes.jsonl", episodes),
    ],
    ...["--optimal", write("optimal.jsonl", optimal), "--teacher", MODEL, "--tokenizer", TOKENIZER],
    ...["--device", "cpu", "--out", out, "--decisions", decisions, ...options],
  );
  const lines = () =>
    readFileSync(decisions, "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
  return { ...result, report: () => JSON.parse(readFileSync(out, "utf8")), lines };
}

/** A run that ends once it has kept its first group. */
async function brokenOff(...options: string[]): Promise<void> {
  const { append } = AppendFile.prototype;
  vi.spyOn(AppendFile.prototype, "append").mockImplementationOnce(function (this: AppendFile, text) {
    append.call(this, text);
    throw new InputError("no more");
  });
  expect(await gate(OPTIMAL, ...options)).toMatchObject({ code: 1 });
  vi.restoreAllMocks();
}

describe("gcopd gate", () => {
  it("keeps the decisions that it has scored when it breaks off, and goes on to the same figures", async () => {
    const whole = await gate(OPTIMAL);
    const [report, decisions] = [whole.report(), whole.lines()];
    await brokenOff();
    const part = join(folder, "gate.json.part");
    expect(readFileSync(part, "utf8").trimEnd().split("\n")).toHaveLength(2);
    // Nothing is left to score.
    const again = await gate(OPTIMAL);
    expect(again.code, again.err).toBe(0);
    expect(again.err).toContain(`goes on from ${part}\n`);
    expect(again.report()).toEqual(report);
    expect(again.lines()).toEqual(decisions);
    expect(existsSync(part)).toBe(false);
  });

  it("begins again when the tokenizer's file is another one", async () => {
    const tokenizer = join(folder, "tokenizer");
    cpSync(TOKENIZER, tokenizer, { recursive: true });
    await brokenOff("--tokenizer", tokenizer);
    appendFileSync(join(tokenizer, "tokenizer.json"), "\n");
    const { code, err } = await gate(OPTIMAL, "--tokenizer", tokenizer);
    expect(code, err).toBe(0);
    expect(err).toContain("gate.json.part: left by another model, input, option or version; begins again");
  });

  it("writes figures that follow from its lines, the same each time", async () => {
    const { code, err, out, report, lines } = await gate(OPTIMAL);
    expect(err).not.toContain("gcopd:");
    expect(code).toBe(0);
    const first = report();
    expect(first).toMatchObject({ format: "gcopd.gate.v1", decisions: 6, episodes: 4, tasks: 2, seed: 0 });
    expect(first.contexts.map(({ context }: { context: string }) => context)).toEqual([
      "none",
      "hindsight-only",
      "minimum-prefix",
      "success-only",
      "graph",
    ]);
    const scored = lines();
    expect(scored).toHaveLength(6);
    for (const { context, mean } of first.contexts) {
      const of = scored.map(({ contexts }) => contexts[context].optimal);
      expect(mean).toBeCloseTo(of.reduce((sum, value) => sum + value, 0) / 6, 12);
      for (const { contexts } of scored)
        expect(contexts[context].optimal).toBeCloseTo(Math.exp(contexts[context].action_logprobs[0]), 12);
    }
    const pair = first.differences.find(
      ({ from, to }: { from: string; to: string }) => from === "none" && to === "graph",
    );
    const mean = (name: string) =>
      first.contexts.find(({ context }: { context: string }) => context === name).mean;
    expect(pair.mean).toBeCloseTo(mean("graph") - mean("none"), 12);
    expect(out).toContain("| graph − none");
    expect(out).toContain("Fewer than 6 episodes separate nothing");
    await gate(OPTIMAL);
    expect(report()).toEqual(first);
  });

  it("scores the decisions that the seed draws", async () => {
    const { report, lines } = await gate(OPTIMAL, "--limit", "3", "--seed", "5");
    expect(report()).toMatchObject({ decisions: 3, seed: 5 });
    const places = lines().map(({ episode, decision }) => `${episode} ${decision}`);
    await gate(OPTIMAL, "--limit", "3", "--seed", "5");
    expect(lines().map(({ episode, decision }) => `${episode} ${decision}`)).toEqual(places);
  });

  it("takes a part of the library, with the figures of a file that holds no more", async () => {
    const failed = sources.map((source) => ({
      ...{ ...source, source: "teacher:1", repetition: 1, final_state: source.decisions[0]!.state },
      decisions: source.decisions.map((each) => ({ ...each, action: "wait", feedback: "Nothing happens." })),
      outcome: { ...source.outcome, success: false, score: 0, ended: "horizon" },
    }));
    const contexts = async (records: readonly object[], ...options: string[]) => {
      const { report } = await gate(
        OPTIMAL,
        ...["--limit", "1", "--library", write("part.jsonl", records), ...options],
      );
      return report();
    };
    const all = [...sources, ...failed];
    const without = await contexts(all, "--success-tasks", "0", "--subset-seed", "2");
    expect(without).toMatchObject({ subset: { success_tasks: 0, seed: 2 }, decisions: 1 });
    const onlyFailed = await contexts(failed);
    expect(onlyFailed.subset).toBeUndefined();
    expect(without.contexts).toEqual(onlyFailed.contexts);
    const onlySuccesses = await contexts(sources);
    expect((await contexts(all, "--failures", "0")).contexts).toEqual(onlySuccesses.contexts);
    expect(onlySuccesses.contexts).not.toEqual(onlyFailed.contexts);
    expect((await gate(OPTIMAL, "--failures", "1.5")).err).toContain("expected a share from 0 to 1");
  });

  it("refuses what is not there before it asks for a device", async () => {
    for (const [option, named, reason] of [
      ["--teacher", TOKENIZER, "config.json: this file is missing; expected a Hugging Face model folder"],
      ["--library", join(folder, "none.jsonl"), "none.jsonl: no such file"],
      ["--episodes", join(folder, "none.jsonl"), "none.jsonl: no such file"],
    ] as const) {
      const { code, err } = await gate(OPTIMAL, option, named);
      expect({ code, err: err.replace(/\S+\//, "") }).toEqual({ code: 1, err: `gcopd: ${reason}\n` });
    }
  });

  it("names the line that is wrong, and writes nothing", async () => {
    const fault = async (line: object) => {
      const { code, err } = await gate([...OPTIMAL, line]);
      expect(code).toBe(1);
      return err;
    };
    const line = { task: "t1", episode: "e1", decision: 7, optimal: ["wait"] };
    expect(await fault(line)).toContain(
      'optimal.jsonl, line 7, decision: episode "e1" has 1 decisions, counted from 0; received 7',
    );
    expect(await fault({ ...line, episode: "e9" })).toContain("line 7, episode: no episode");
    expect(await fault({ ...line, decision: 0 })).toContain("is already on line 1; ids must be unique");
    expect(await fault({ ...line, optimal: [] })).toContain("line 7, optimal:");
    expect(await fault({ ...line, optimal: ["a", "a"] })).toContain('"a" is named twice');
  });
});
