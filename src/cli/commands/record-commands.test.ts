import { copyFile, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { runCli } from "../../../test/support/cli.ts";

const SCIENCEWORLD = fileURLToPath(new URL("../../../test/fixtures/scienceworld", import.meta.url));
const TOKENIZER = fileURLToPath(new URL("../../../test/fixtures/models/tokenizer", import.meta.url));

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "gcopd-commands-"));
});
afterEach(async () => {
  await rm(folder, { recursive: true });
});

function parseLines(text: string): Record<string, unknown>[] {
  return text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

describe("validate", () => {
  test("says what each file holds", async () => {
    const files = ["sources", "episodes", "retrieval-expected"].map((name) =>
      join(SCIENCEWORLD, `${name}.jsonl.gz`),
    );
    const { code, out, err } = await runCli("validate", ...files);
    expect([code, err]).toEqual([0, ""]);
    expect(out.trimEnd().split("\n")).toEqual([
      `${files[0]}: valid: 195 sources, 11 tasks, 3554 decisions`,
      `${files[1]}: valid: 73 episodes, 11 tasks, 1699 decisions`,
      `${files[2]}: valid: 1699 retrieval records, 11 tasks`,
    ]);
  });

  test("one line for each bad file, the good ones checked all the same", async () => {
    const bytes = await readFile(join(SCIENCEWORLD, "sources.jsonl.gz"));
    const cut = join(folder, "cut.jsonl.gz");
    const twice = join(folder, "twice.jsonl");
    const good = join(folder, "good.jsonl");
    const [first] = gunzipSync(bytes).toString().split("\n");
    await writeFile(cut, bytes.subarray(0, bytes.length / 2));
    await writeFile(twice, `${first}\n${first}\n`);
    await writeFile(good, `${first}\n`);
    const { code, out, err } = await runCli("validate", cut, twice, join(folder, "none"), good);
    expect(code).toBe(1);
    expect(out).toBe(`${good}: valid: 1 source, 1 task, ${JSON.parse(first!).decisions.length} decisions\n`);
    expect(err.trimEnd().split("\n")).toEqual([
      `gcopd: ${cut}: truncated gzip: the file ends before its compressed data does`,
      expect.stringContaining(`gcopd: ${twice}, line 2, source: source "teacher:0" of task`),
      `gcopd: ${join(folder, "none")}: no such file`,
    ]);
  });

  test("notes the plans that ALFWorld's library does not hold, and refuses an unknown flag", async () => {
    const bytes = await readFile(join(SCIENCEWORLD, "sources.jsonl.gz"));
    const [first] = parseLines(gunzipSync(bytes).toString());
    const [decision] = first!.decisions as object[];
    const plan = {
      ...{ ...first, environment: "alfworld", origin: { kind: "planner" } },
      decisions: Array(31).fill(decision),
      outcome: { complete: true, success: true, score: 1, ended: "environment", verified: true },
    };
    const long = join(folder, "long.jsonl");
    await writeFile(long, JSON.stringify(plan));
    expect(await runCli("validate", long)).toEqual({
      code: 0,
      out: `${long}: valid: 1 source, 1 task, 31 decisions\n`,
      err:
        `${long}: note: 1 source of alfworld left out: ` +
        "the library of its environment holds successful plans of 1 to 30 decisions only\n",
    });
    const bad = join(folder, "bad.jsonl");
    await writeFile(bad, JSON.stringify({ ...plan, decisions: [{ ...decision, entry_allowed: "no" }] }));
    expect((await runCli("validate", bad)).err).toMatch(
      /line 1, decisions\[0\]\.entry_allowed: expected (a )?boolean/,
    );
  });

  test("an empty file holds no records, and no file at all is bad usage", async () => {
    await writeFile(join(folder, "empty"), "");
    expect(await runCli("validate", join(folder, "empty"))).toMatchObject({
      code: 1,
      err: `gcopd: ${join(folder, "empty")}: holds no records\n`,
    });
    expect((await runCli("validate")).code).toBe(2);
  });
});

describe("locate", () => {
  const cases = join(SCIENCEWORLD, "locator-cases.jsonl.gz");

  test("reproduces every recorded key and state, in order", async () => {
    const out = join(folder, "located.jsonl");
    const result = await runCli("locate", "--environment", "scienceworld", "--in", cases, "--out", out);
    expect(result).toEqual({ code: 0, out: "", err: "35 captures, 4 of them cannot match\n" });
    const expected = parseLines(gunzipSync(await readFile(cases)).toString()).map((entry) => {
      const { key, state } = entry.expected as { key: string; state: unknown };
      return { case: entry.case, key, state };
    });
    expect(parseLines(await readFile(out, "utf8"))).toEqual(expected);
  });

  test("WebShop pages, by address", async () => {
    const file = join(SCIENCEWORLD, "../webshop/url-cases.jsonl");
    const result = await runCli("locate", "--environment", "webshop", "--in", file);
    expect(result).toMatchObject({ code: 0, err: "24 captures, 0 of them cannot match\n" });
    expect(parseLines(result.out)).toEqual(
      parseLines(await readFile(file, "utf8")).map(({ id, key }) => ({
        id,
        key,
        state: { key, mode: "normal", options: {} },
      })),
    );
  });

  test("ALFWorld states, traces of the engine as they are", async () => {
    const file = join(SCIENCEWORLD, "../alfworld/engine-traces.jsonl.gz");
    const result = await runCli("locate", "--environment", "alfworld", "--in", file);
    expect(result).toMatchObject({ code: 0, err: "282 captures, 0 of them cannot match\n" });
    expect(parseLines(result.out)).toEqual(
      parseLines(gunzipSync(await readFile(file)).toString()).map(({ key }) => ({
        key,
        state: { key, mode: "normal", options: {} },
      })),
    );
  });

  test("an environment without a locator, and a capture that is not one", async () => {
    for (const name of ["custom", "marsworld"]) {
      expect(await runCli("locate", "--environment", name, "--in", cases)).toEqual({
        code: 1,
        out: "",
        err:
          `gcopd: --environment: no locator for "${name}": expected scienceworld, alfworld, webshop; ` +
          "a custom environment brings its keys in its records\n",
      });
    }
    const bad = join(folder, "bad.jsonl");
    await writeFile(
      bad,
      '{"case":"x","object_tree":"{","goal_progress":"","history":[{"feedback":"","stepped":true}]}',
    );
    const out = join(folder, "located.jsonl");
    expect(await runCli("locate", "--environment", "scienceworld", "--in", bad, "--out", out)).toMatchObject({
      code: 1,
      err: `gcopd: ${bad}, line 1, object_tree: not an object tree: expected a key, but the text ends\n`,
    });
    expect(await readdir(folder)).toEqual(["bad.jsonl"]);
  });
});

describe("tokenize", () => {
  test("texts to ids and back, to standard output and to a compressed file", async () => {
    const cases = parseLines(await readFile(join(TOKENIZER, "tokenizer-cases.jsonl"), "utf8"));
    const texts = join(folder, "texts.jsonl");
    await writeFile(
      texts,
      cases.map(({ text }, id) => `${JSON.stringify({ id: `${id}`, text })}\n`).join(""),
    );
    const encoded = await runCli("tokenize", "--tokenizer", TOKENIZER, "--in", texts);
    expect(encoded.code).toBe(0);
    expect(parseLines(encoded.out)).toEqual(cases.map(({ ids }, id) => ({ id: `${id}`, ids })));

    const idsFile = join(folder, "ids.jsonl");
    const out = join(folder, "decoded.jsonl.gz");
    await writeFile(idsFile, encoded.out);
    expect(
      (await runCli("tokenize", "--tokenizer", TOKENIZER, "--in", idsFile, "--out", out, "--decode")).code,
    ).toBe(0);
    expect(parseLines(gunzipSync(await readFile(out)).toString())).toEqual(
      cases.map(({ decoded }, id) => ({ id: `${id}`, text: decoded })),
    );
  });

  test("a folder without a tokenizer, a broken one, and ids that have no token", async () => {
    const lines = join(folder, "ids.jsonl");
    await writeFile(lines, '{"id":"a","ids":[1]}\n{"id":"b","ids":[2,1865]}\n');
    expect(await runCli("tokenize", "--tokenizer", folder, "--in", lines, "--decode")).toMatchObject({
      code: 1,
      err: `gcopd: ${folder}: no tokenizer.json in this folder\n`,
    });
    expect(await runCli("tokenize", "--tokenizer", TOKENIZER, "--in", lines, "--decode")).toMatchObject({
      code: 1,
      err: `gcopd: ${lines}, line 2, ids[1]: id 1865 has no token in ${TOKENIZER}\n`,
    });
    expect(await runCli("tokenize", "--tokenizer", TOKENIZER, "--in", lines)).toMatchObject({
      code: 1,
      err: `gcopd: ${lines}, line 1, text: missing; expected string\n`,
    });
    await copyFile(lines, join(folder, "tokenizer.json"));
    expect((await runCli("tokenize", "--tokenizer", folder, "--in", lines)).err).toContain(
      `gcopd: ${folder}/tokenizer.json: not JSON: `,
    );
  });
});

test.each(["validate", "locate", "tokenize"])("%s --help", async (name) => {
  const { code, out } = await runCli(name, "--help");
  expect(code).toBe(0);
  expect(out).toContain(`Usage: gcopd ${name}`);
});
