/** The command line's standard streams when they end early, are full, or hold bad records. */
import { spawnSync } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  at,
  CPU,
  contents,
  folder,
  freshFolder,
  lines,
  MODEL,
  retrieve,
  TOKENIZER,
} from "./support/bad-input.ts";
import { buildCli } from "./support/cli.ts";

freshFolder();

describe("standard streams", () => {
  let script: string;
  beforeAll(async () => {
    script = await buildCli("standard-streams");
  });
  afterAll(() => rmSync(join(script, ".."), { recursive: true, force: true }));
  const shell = (line: string, ...args: string[]) =>
    spawnSync("bash", ["-c", line, process.execPath, script, ...args], { encoding: "utf8", cwd: folder });
  const commands = () => [
    retrieve().slice(0, -2),
    ["validate", at("sources.jsonl")],
    ["graph", "--library", at("sources.jsonl"), "--json"],
    ["score", "--model", MODEL, "--in", at("in.jsonl"), ...CPU],
    ["step", "--model", MODEL, "--in", at("batch.jsonl"), "--out", at(`new-${Math.random()}`), ...CPU],
    ["score", "--model", MODEL, "--in", at("in.jsonl"), "--out", at("o"), "--progress", "json", ...CPU],
  ];

  it("a reader that goes away is not an error", () => {
    for (const args of commands()) {
      const { stdout, stderr } = shell('("$0" "$@"; echo "code $?" >&2) | true', ...args);
      expect(stdout).toBe("");
      expect(stderr, args[0]).toMatch(/code 0\n$/);
      expect(stderr).not.toMatch(/EPIPE|internal error/);
    }
  });

  it("a reader of the messages that goes away is none either", () => {
    const { stdout } = shell('("$0" "$@" > out; echo "code $?") 2> >(true)', ...commands()[0]!);
    expect(stdout).toBe("code 0\n");
  });

  it("a full disk behind standard output is one line", () => {
    for (const args of commands()) {
      const { stderr } = shell('"$0" "$@" > /dev/full; echo "code $?" >&2', ...args);
      expect(stderr.match(/standard output: no space left on the device/g), stderr).toHaveLength(1);
      expect(stderr, args[0]).toMatch(/code 1\n$/);
      expect(stderr).not.toMatch(/internal error|^\s+at /m);
    }
  });

  it("a write that stops midway leaves nothing", () => {
    writeFileSync(at("many.jsonl"), lines(Array(3000).fill({ id: "a", text: "open the door ".repeat(20) })));
    const before = contents();
    for (const [out, args] of [
      ["new", ["step", "--model", MODEL, "--in", at("batch.jsonl"), "--out", at("new"), ...CPU]],
      ["ids", ["tokenize", "--tokenizer", TOKENIZER, "--in", at("many.jsonl"), "--out", at("ids")]],
    ] as const) {
      // Files of at most 64 KiB stand for a disk that fills up.
      const { stderr, status } = shell('ulimit -f 64; "$0" "$@"', ...args);
      expect([status, stderr.trimEnd().split("\n").length], stderr).toEqual([1, 1]);
      expect(stderr).toMatch(new RegExp(`^gcopd: ${at(out)}.*: larger than a file may be here$`, "m"));
      expect(contents()).toEqual(before);
    }
  });

  it("records on standard input are named so", () => {
    const { stderr, status } = shell('echo "{" | "$0" "$@"', "graph", "--library", "-");
    expect([status, stderr.trimEnd().split("\n").length]).toEqual([1, 1]);
    expect(stderr).toContain("gcopd: standard input, line 1: not JSON");
  });
});
