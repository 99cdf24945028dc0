/** What records hold reaches a terminal as text: nothing moves its cursor, colours it or turns it around. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { runCli } from "../../test/support/cli.ts";
import { EVERYTHING, HOSTILE, hostileName } from "../../test/support/hostile.ts";
import { hostileEpisode, hostileSource } from "../../test/support/hostile-records.ts";
import { tinyRecords } from "../../test/support/tiny-records.ts";

/** What a terminal obeys; line feeds end lines, tabs are tabs. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const OBEYED = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]|\r(?!\n)/u;

let folder: string;
const at = (name: string): string => join(folder, name);
const EPISODE = hostileName(7);
const TASK = hostileName(1);

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "gcopd-hostile-"));
  const { sources, episodes } = tinyRecords();
  const lines = (records: object[]) => records.map((record) => `${JSON.stringify(record)}\n`).join("");
  const environment = `odd ${HOSTILE.terminal}`;
  writeFileSync(
    at("sources.jsonl"),
    lines([
      ...sources.map((source, i) => hostileSource(source, hostileName(i + 1), EVERYTHING, EVERYTHING)),
      { ...sources[0], environment, task: EVERYTHING },
    ]),
  );
  writeFileSync(at("episodes.jsonl"), lines([hostileEpisode(episodes[0]!, TASK, EPISODE, EVERYTHING)]));
  writeFileSync(
    at("broken.jsonl"),
    `{"format":"gcopd.source.v1","environment":${JSON.stringify(EVERYTHING)}}\n`,
  );
  writeFileSync(
    at("chat.json"),
    JSON.stringify([{ conversations: EVERYTHING, id: EVERYTHING, [EVERYTHING]: 1 }]),
  );
});
afterAll(() => rmSync(folder, { recursive: true }));

const before = process.stdout.isTTY;
const onTerminal = (is: boolean): void => {
  process.stdout.isTTY = is;
};
afterEach(() => onTerminal(before));

const both = () => ["--library", at("sources.jsonl"), "--episodes", at("episodes.jsonl")];
const evidence = () => ["evidence", ...both(), "--episode", EPISODE, "--decision", "0"];

describe("a terminal", () => {
  it.each<[string, () => string[], number]>([
    ["validate", () => ["validate", at("sources.jsonl"), at("episodes.jsonl")], 0],
    ["validate a broken file", () => ["validate", at("broken.jsonl")], 1],
    ["graph", () => ["graph", "--library", at("sources.jsonl")], 0],
    ["graph of a task", () => ["graph", "--library", at("sources.jsonl"), "--task", TASK], 0],
    ["graph of no task", () => ["graph", "--library", at("sources.jsonl"), "--task", EVERYTHING.slice(1)], 1],
    ["graph as JSON", () => ["graph", "--library", at("sources.jsonl"), "--task", TASK, "--json"], 0],
    ["retrieve", () => ["retrieve", ...both(), "--out", "-"], 0],
    ["evidence", evidence, 0],
    ["evidence as JSON", () => [...evidence(), "--json"], 0],
    [
      "evidence of no episode",
      () => ["evidence", ...both(), "--episode", HOSTILE.bidi, "--decision", "0"],
      1,
    ],
    ["stats", () => ["stats", ...both()], 0],
    ["export", () => ["export", at("sources.jsonl"), "--out", "-", "--format", "csv"], 0],
    ["import", () => ["import", at("chat.json"), "--out", at("imported.jsonl")], 1],
  ])("shows what %s prints as text", async (_, args, expected) => {
    onTerminal(true);
    const { code, out, err } = await runCli(...args());
    expect(err).not.toMatch(/internal error/);
    expect(code, err).toBe(expected);
    expect(out + err).not.toBe("");
    for (const text of [out, err])
      expect(OBEYED.exec(text)?.[0].codePointAt(0)?.toString(16)).toBeUndefined();
    if (expected === 1) expect(err.trimEnd().split("\n")).toHaveLength(1);
  });

  it("has a line per task, whatever the tasks are called", async () => {
    const { out } = await runCli("graph", "--library", at("sources.jsonl"));
    // Heading, three tasks, total.
    expect(out.trimEnd().split("\n")).toHaveLength(5);
  });
});

it("a program gets the evidence to the letter, and JSON that says the same", async () => {
  onTerminal(false);
  const raw = await runCli(...evidence());
  expect(raw.out).toContain(HOSTILE.terminal);
  expect(raw.err).not.toMatch(OBEYED);
  const json = await runCli(...evidence(), "--json");
  // Halves of pairs are no UTF-8.
  expect(Buffer.from(`${JSON.parse(json.out).text}\n`).toString()).toBe(raw.out);
  onTerminal(true);
  const shown = await runCli(...evidence(), "--json");
  expect(JSON.parse(shown.out)).toEqual(JSON.parse(json.out));
});

it("an exported table comes back as the records that it was made of", async () => {
  expect((await runCli("export", at("sources.jsonl"), "--out", at("table.csv"))).code).toBe(0);
  expect((await runCli("import", at("table.csv"), "--out", at("back.jsonl"))).code).toBe(0);
  const records = (name: string) =>
    readFileSync(at(name), "utf8")
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
  expect(records("back.jsonl")).toEqual(records("sources.jsonl"));
});
