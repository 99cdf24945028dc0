/** A folder with small good files in it, for tests of what a command does with bad ones. */
import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect } from "vitest";
import { runCli } from "./cli.ts";
import { modelFixture } from "./golden.ts";
import { tinyRecords } from "./tiny-records.ts";

export const TOKENIZER = modelFixture("tokenizer");
export const MODEL = modelFixture("qwen3-a");
export const CPU = ["--device", "cpu"];

export let folder: string;
export const at = (name: string) => join(folder, name);
export const lines = (records: readonly object[]) =>
  records.map((record) => `${JSON.stringify(record)}\n`).join("");

export type Record_ = Record<string, unknown>;
export const { sources, episodes } = tinyRecords() as unknown as {
  sources: [Record_, ...Record_[]];
  episodes: [Record_, ...Record_[]];
};
export const decisionsOf = (record: Record_) => record.decisions as Record_[];

/** Makes the folder before each test of a file, and takes it away after it. */
export function freshFolder(): void {
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "gcopd-bad-"));
    writeFileSync(at("sources.jsonl"), lines(sources));
    writeFileSync(at("episodes.jsonl"), lines(episodes));
    writeFileSync(at("in.jsonl"), lines([{ id: "a", prompt_ids: [1, 2], response_ids: [3] }]));
    writeFileSync(
      at("batch.jsonl"),
      lines([
        { episode: "e", prompt_ids: [1], response_ids: [2], teacher_logprobs: [-1], rollout_logprobs: [-1] },
      ]),
    );
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));
}

/** Everything below the folder, with its content: what a failed command must leave as it was. */
export function contents(path = folder): Record<string, string> {
  return Object.fromEntries(
    readdirSync(path, { withFileTypes: true, recursive: true }).map((entry) => {
      const file = join(entry.parentPath, entry.name);
      const digest = () => createHash("sha256").update(readFileSync(file)).digest("hex");
      return [file, entry.isDirectory() ? "folder" : digest()];
    }),
  );
}

export const retrieve = () => [
  ...["retrieve", "--library", at("sources.jsonl"), "--episodes", at("episodes.jsonl")],
  ...["--out", at("out.jsonl")],
];

/** Runs a command that must fail with one line, and change nothing. */
export async function refused(args: readonly string[], code = 1): Promise<string> {
  const before = contents();
  const result = await runCli(...args);
  expect([result.code, result.out], result.err).toEqual([code, ""]);
  const told = result.err.trimEnd().split("\n");
  if (code === 1) expect(told, result.err).toHaveLength(1);
  expect(result.err).not.toContain("internal error");
  expect(result.err).not.toMatch(/^\s+at /m);
  expect(contents()).toEqual(before);
  return told[0]!;
}
