/** Files that hold nothing, or need no work: one line that says so, never an empty table or an untrained student. */
import { writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import {
  at,
  CPU,
  episodes,
  freshFolder,
  lines,
  MODEL,
  refused,
  retrieve,
  sources,
  TOKENIZER,
} from "./support/bad-input.ts";

freshFolder();

const LIBRARY = () => ["--library", at("sources.jsonl")];
const BOTH = () => [...LIBRARY(), "--episodes", at("episodes.jsonl")];
const TRAIN = () => {
  const models = { teacher: MODEL, student: MODEL, tokenizer: TOKENIZER, device: "cpu" };
  const config = { library: "sources.jsonl", episodes: "episodes.jsonl", ...models };
  writeFileSync(at("config.json"), JSON.stringify(config));
  return ["train", "--config", at("config.json"), "--out", at("run")];
};

describe.each([
  ["of no bytes", ""],
  ["of blank gzip", gzipSync("")],
])("a file %s", (_, content) => {
  it.each<[string, string, () => string[], string]>([
    ["validate", "sources.jsonl", () => ["validate", at("sources.jsonl")], "holds no records"],
    ["graph", "sources.jsonl", () => ["graph", ...LIBRARY()], "holds no records"],
    ["stats", "sources.jsonl", () => ["stats", ...LIBRARY()], "holds no records"],
    ["stats", "episodes.jsonl", () => ["stats", ...BOTH()], "holds no records"],
    ["retrieve", "sources.jsonl", retrieve, "holds no records"],
    ["retrieve", "episodes.jsonl", retrieve, "holds no records"],
    [
      "evidence",
      "episodes.jsonl",
      () => ["evidence", ...BOTH(), "--episode", "e", "--decision", "0"],
      "holds no records",
    ],
    ["train", "sources.jsonl", TRAIN, "holds no records"],
    ["train", "episodes.jsonl", TRAIN, "holds no records"],
    ["import", "in.jsonl", () => ["import", at("in.jsonl"), "--out", at("out.jsonl")], "holds no records"],
    [
      "tokenize",
      "in.jsonl",
      () => ["tokenize", "--tokenizer", TOKENIZER, "--in", at("in.jsonl"), "--out", at("out.jsonl")],
      "holds no lines",
    ],
    [
      "locate",
      "in.jsonl",
      () => ["locate", "--environment", "webshop", "--in", at("in.jsonl"), "--out", at("out.jsonl")],
      "holds no captures",
    ],
    [
      "score",
      "in.jsonl",
      () => ["score", "--model", MODEL, "--in", at("in.jsonl"), "--out", at("out.jsonl"), ...CPU],
      "holds no requests",
    ],
    [
      "step",
      "batch.jsonl",
      () => ["step", "--model", MODEL, "--in", at("batch.jsonl"), "--out", at("new"), ...CPU],
      "the batch has no response token",
    ],
  ])("%s of %s", async (_, file, args, message) => {
    const command = args();
    writeFileSync(at(file), content);
    expect(await refused(command)).toBe(`gcopd: ${at(file)}: ${message}`);
  });
});

it("index: no index is left beside an empty file", async () => {
  writeFileSync(at("sources.jsonl"), "");
  expect(await refused(["index", at("sources.jsonl")])).toBe(
    `gcopd: ${at("sources.jsonl")}: holds no records`,
  );
});

it.each([["--tasks"], ["--sources"]])("synth: a library of nothing is not made (%s 0)", async (option) => {
  const counts = ["--tasks", "1", "--sources", "1"].with(option === "--tasks" ? 1 : 3, "0");
  expect(await refused(["synth", ...counts, "--out", at("out.jsonl")], 2)).toContain(
    `'${option} <${option === "--tasks" ? "N" : "K"}>' argument '0' is invalid. expected a whole number from 1.`,
  );
});

it("import: records of this format need none", async () => {
  for (const [kind, records] of [
    ["source", sources],
    ["episode", episodes],
  ] as const) {
    writeFileSync(at("own.jsonl"), lines(records));
    expect(await refused(["import", at("own.jsonl"), "--out", at("out.jsonl")])).toBe(
      `gcopd: ${at("own.jsonl")}: holds ${kind} records of library format 1 already: there is nothing to import`,
    );
  }
});
