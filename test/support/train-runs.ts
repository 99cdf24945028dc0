/** Runs of `gcopd train` on the tiny records, each test in a folder of its own. */
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach } from "vitest";
import type { TrainEvent } from "../../src/core/loop/index.ts";
import { runCli } from "./cli.ts";
import { modelFixture } from "./golden.ts";
import { tinyRecords } from "./tiny-records.ts";

let folder: string;

/** Makes the folder of each test, with sources.jsonl and episodes.jsonl in it. Call once per test file. */
export function eachInItsFolder(): void {
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "gcopd-"));
    const { sources, episodes } = tinyRecords();
    const text = (records: object[]) => records.map((record) => `${JSON.stringify(record)}\n`).join("");
    writeFileSync(inFolder("sources.jsonl"), text(sources));
    writeFileSync(inFolder("episodes.jsonl"), text(episodes));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));
}

/** A path in the folder of the test. */
export const inFolder = (...path: string[]): string => join(folder, ...path);

export function writeConfig(changes: object = {}, name = "config.json"): string {
  const path = inFolder(name);
  const config = {
    library: "sources.jsonl",
    episodes: "episodes.jsonl",
    teacher: modelFixture("tiny-b"),
    student: modelFixture("tiny-a"),
    tokenizer: modelFixture("tokenizer"),
    batch_size: 2,
    settings: { learning_rate: 1e-4 },
    seed: 3,
    device: "cpu",
    ...changes,
  };
  writeFileSync(path, JSON.stringify(config));
  return path;
}

export const digest = (path: string) => createHash("sha256").update(readFileSync(path)).digest("hex");
export const weightsOf = (model: string) => digest(join(model, "model.safetensors"));
export const weights = (out: string) => weightsOf(inFolder(out, "student"));
/** The run's events among what it printed; how far a step is comes by the clock. */
export const events = (text: string) =>
  text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as TrainEvent | { type: "work" })
    .filter((event) => event.type !== "work");
export const lines = (out: string, file: string) =>
  readFileSync(inFolder(out, file), "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown> & { type: string; step: number });
export const train = (config: string, out: string, ...args: string[]) =>
  runCli("train", "--config", config, "--out", inFolder(out), ...args);

/** What a run figures, without what a clock says. */
export function figures(out: string): object[] {
  return lines(out, "metrics.jsonl").map(({ seconds: _, tokensPerSecond: __, ...rest }) => rest);
}
