/** What the page reads of the shared folder, over a worker that really listens. */
import { cpSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { EPISODES, jsonLines, SOURCES, TASK } from "../../../e2e/own-files.ts";
import {
  readShared,
  type SharedFile,
  type SharedSource,
  sharedBlob,
  sharedImportFiles,
} from "../../app/data/files/shared-files.ts";
import { LibraryService } from "../../app/data/worker/library-service.ts";
import { Harness } from "../testing/harness.ts";

const FIXTURES = new URL("../../../test/fixtures/", import.meta.url).pathname;
let harness: Harness;
let shared: string;
let source: SharedSource;

beforeAll(async () => {
  harness = new Harness();
  shared = join(harness.folder, "shared");
  mkdirSync(join(shared, "run", "inner"), { recursive: true });
  writeFileSync(join(shared, "run", "sources.jsonl"), jsonLines(SOURCES));
  writeFileSync(join(shared, "run", "inner", "episodes.jsonl"), jsonLines(EPISODES));
  writeFileSync(
    join(shared, "run", "scores.jsonl"),
    `${JSON.stringify({ id: "own#0:0", logprobs: [-1, -2] })}\n`,
  );
  writeFileSync(join(shared, "run", "notes.txt"), "not a record");
  cpSync(join(FIXTURES, "imports/scienceworld-catalog/catalog"), join(shared, "outer", "catalog"), {
    recursive: true,
  });
  mkdirSync(join(shared, "round"));
  symlinkSync(join(shared, "round"), join(shared, "round", "again"));
  writeFileSync(join(shared, "bytes"), "0123456789");
  await harness.start({ filesDir: shared });
  const base = harness.url.replace(/\/$/, "");
  source = { list: `${base}/api/shared`, content: `${base}/api/shared/content/`, token: harness.token };
});
afterAll(() => harness.remove());

const link = (path: string) => ({ library: "own", disk: [path], addresses: [] });

it("lists a folder to any depth and streams its files, from a place in them", async () => {
  const files = await sharedImportFiles(source, "run");
  expect((await files.list()).map(({ path, size }) => [path, size > 0])).toEqual([
    ["inner/episodes.jsonl", true],
    ["notes.txt", true],
    ["scores.jsonl", true],
    ["sources.jsonl", true],
  ]);
  const text = async (path: string, start?: number): Promise<string> => {
    const chunks: Uint8Array[] = [];
    for await (const chunk of files.open(path, start)) chunks.push(chunk);
    return Buffer.concat(chunks).toString();
  };
  expect([await text("notes.txt"), await text("notes.txt", 6), await text("notes.txt", 99)]).toEqual([
    "not a record",
    "record",
    "",
  ]);
  await expect(text("nothing")).rejects.toThrow("nothing: no such file");
  await expect(sharedImportFiles(source, "gone")).rejects.toThrow('no folder "gone"');
  await expect(sharedImportFiles(source, "round")).rejects.toThrow("deep in each other");
});

it("opens our own records in a folder, with scores and a note on the rest", async () => {
  const service = new LibraryService();
  const library = await service.openFolder(source, "run", link("run/"), () => {});
  expect(library.files.map(({ name, kind, records }) => [name, kind, records])).toEqual([
    ["episodes.jsonl", "episodes", 1],
    ["sources.jsonl", "sources", 3],
  ]);
  expect([library.imported, library.recordedScores, library.link]).toEqual([null, 1, link("run/")]);
  expect(library.notes.join(" ")).toContain("Not used beside the records: notes.txt.");
  const ref = { library: library.id, environment: "scienceworld", task: TASK };
  expect((await service.tasks.decision(ref, "own#0", 0)).retrieval.record.success?.source).toBe("teacher:0");
});

it("imports what another program recorded, as when the folder is dropped", async () => {
  const service = new LibraryService();
  const library = await service.openFolder(source, "outer", link("outer/"), () => {});
  expect(library.imported?.format).toBe("scienceworld-catalog");
  expect(library.title).toContain("catalog");
  expect(library.imported?.sources).toBeGreaterThan(0);
  await expect(service.openFolder(source, "round/..", link("x/"), () => {})).rejects.toThrow();
});

it("reads parts of a file that stays on the disk, and refuses one that has changed", async () => {
  const { content, token } = source;
  const file: SharedFile = { kind: "shared", content, token, path: "bytes", size: 10 };
  expect(Buffer.from(await readShared(file, 2, 5)).toString()).toBe("234");
  expect(await readShared(file, 3, 3)).toHaveLength(0);
  expect(await (await sharedBlob(file)).text()).toBe("0123456789");
  const other = { ...file, size: 11 };
  await expect(readShared(other, 2, 5)).rejects.toThrow("bytes: has changed on the worker's disk");
  await expect(sharedBlob(other)).rejects.toThrow("bytes: has changed on the worker's disk");
  await expect(readShared({ ...file, path: "gone" }, 0, 1)).rejects.toThrow("gone: the worker answered 404");
});
