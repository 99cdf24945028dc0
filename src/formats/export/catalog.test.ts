import { describe, expect, it } from "vitest";
import { expectedLines, importAll, onExpectedKeys } from "../../../test/support/import-fixture.ts";
import type { Source } from "../../core/record/schema.ts";
import { catalogFiles } from "./catalog.ts";

const tasksOf = (sources: readonly Source[]): Source[][] =>
  [...new Set(sources.map(({ task }) => task))].map((task) => sources.filter((each) => each.task === task));

async function written(sources: readonly Source[]): Promise<Record<string, Uint8Array>> {
  const files: Record<string, Uint8Array> = {};
  for await (const { path, bytes } of catalogFiles(tasksOf(sources))) files[path] = bytes;
  return files;
}

const json = (bytes: Uint8Array | undefined) => JSON.parse(new TextDecoder().decode(bytes));

describe.each([
  ["scienceworld-catalog", "scienceworld-catalog"],
  ["alfworld-catalog", "alfworld-catalog"],
  ["webshop-catalog", "webshop-catalog"],
])("a library of %s", (folder, format) => {
  const library = expectedLines<Source>(`${folder}/expected-sources.jsonl.gz`);

  it("comes back from the catalog that it is written as, record by record", async () => {
    const files = await written(library);
    const { records, report, format: found } = await importAll(files);
    expect(found).toBe(format);
    const again = records.flatMap((each) => (each.kind === "source" ? [each.record] : []));
    expect(again).toHaveLength(library.length);
    again.forEach((source, n) => {
      expect(onExpectedKeys(source, library[n]), `${source.task} ${source.source}`).toStrictEqual(library[n]);
    });
    expect(report.warnings).toEqual([]);
  });

  it("is refused where a file was changed after it was written", async () => {
    const files = await written(library);
    const path = Object.keys(files).find((name) => /graphs\/|^[0-9a-f]{64}\.json$/.test(name))!;
    const other = Object.keys(files).findLast((name) => /graphs\/|^[0-9a-f]{64}\.json$/.test(name))!;
    const { report } = await importAll({ ...files, [path]: files[other]! });
    expect(report.skipped.map((each) => each.file)).toContain(path);
  });

  it("ends with the manifest, and the mark that all is there", async () => {
    const names = Object.keys(await written(library));
    expect(names.slice(-2)).toEqual(["MANIFEST.json", "READY.json"]);
  });
});

it("names tasks as the released programs look for them", async () => {
  const library = expectedLines<Source>("alfworld-catalog/expected-sources.jsonl.gz");
  const manifest = json((await written(library))["MANIFEST.json"]);
  // The names of the fixture's own files.
  expect(manifest.tasks.map(({ catalog }: { catalog: string }) => catalog).sort()).toEqual([
    "02b782fa312e520e5e7c0e35927898ed9bc05532c7b2f5024fc8973436119336.json",
    "ba5409dff9b5cb3602cade02f0942233687f0438af87aa3012925f68a00e98c8.json",
  ]);
  expect(manifest).toMatchObject({ codec: "alf_pddl_relative_v1", K: 17, teacher_K: 16 });
});

describe("what a catalog cannot hold is refused", () => {
  const [source] = expectedLines<Source>("alfworld-catalog/expected-sources.jsonl.gz") as [Source];
  it.each([
    [[{ ...source, origin: { kind: "human" } }], 'was made by "human"'],
    [
      [{ ...source, source: "other:0" }],
      "other:0 of .* comes back as teacher:0 from a catalog, by its repetition; expected that name",
    ],
    [
      [{ ...source, source: "planner:0", repetition: 1_000_000, origin: { kind: "planner" } }],
      "planner:0 of .* comes back as planner:1000000",
    ],
    [[source, { ...source, source: "teacher:0b" }], "both have repetition 0"],
    [
      [{ ...source, environment: "chess" }],
      "is of chess; there are catalogs of alfworld, scienceworld, webshop",
    ],
    [[source, { ...source, task: "b", environment: "webshop" }], "a catalog holds one"],
    [[], "holds no sources"],
  ] satisfies [Source[], string][])("%#", async (sources, message) => {
    await expect(written(sources)).rejects.toThrow(new RegExp(message));
  });
});
