import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import { afterEach, beforeEach, expect, test } from "vitest";
import { runCli } from "../../../test/support/cli.ts";

const FIXTURES = fileURLToPath(new URL("../../../test/fixtures/scienceworld", import.meta.url));

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "gcopd-export-"));
});
afterEach(async () => {
  await rm(folder, { recursive: true });
});

const lines = (text: string) =>
  text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as unknown);

test.each(["sources", "episodes"])("%s come back equal from every format", async (name) => {
  const library = join(FIXTURES, `${name}.jsonl.gz`);
  const want = lines(gunzipSync(await readFile(library)).toString());
  for (const file of ["a.jsonl", "a.csv", "a.csv.gz", "a.parquet"]) {
    const out = join(folder, file);
    expect(await runCli("export", library, "--out", out)).toMatchObject({ code: 0, out: "" });
    const again = join(folder, `${file}.jsonl`);
    if (file === "a.jsonl") expect(lines(await readFile(out, "utf8"))).toEqual(want);
    else {
      expect(await runCli("import", out, "--out", again)).toMatchObject({ code: 0 });
      expect(lines(await readFile(again, "utf8"))).toEqual(want);
    }
  }
});

test("bad records leave no file behind", async () => {
  const library = join(folder, "bad.jsonl");
  await writeFile(library, '{"format":"gcopd.source.v1"}\n');
  for (const name of ["a.csv", "a.parquet", "a.jsonl"]) {
    const { code, err } = await runCli("export", library, "--out", join(folder, name));
    expect(code).toBe(1);
    expect(err).toMatch(/^gcopd: .*bad\.jsonl, line 1, environment: missing; expected string\n$/);
  }
  expect(await readdir(folder)).toEqual(["bad.jsonl"]);
});

test("a name that says no format is refused", async () => {
  const library = join(FIXTURES, "sources.jsonl.gz");
  expect(await runCli("export", library, "--out", join(folder, "a.txt"))).toMatchObject({ code: 2 });
  expect(await runCli("export", library, "--out", join(folder, "a.parquet.gz"))).toMatchObject({ code: 2 });
  expect(await runCli("export", library, "--out", join(folder, "a.csv"), "--format", "xml")).toMatchObject({
    code: 2,
  });
});
