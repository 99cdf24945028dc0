/** Fixtures of the importers: foreign folders as files in memory, and the records that they must give. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import {
  type ImportedRecord,
  type ImportFiles,
  type ImportReport,
  memoryFiles,
  runImport,
} from "../../src/formats/import/index.ts";

const FIXTURES = new URL("../fixtures/imports/", import.meta.url).pathname;

/** Every file below a fixture's folder, by its path in it. */
export function fixtureContents(folder: string): Record<string, Uint8Array> {
  const root = join(FIXTURES, folder);
  const contents: Record<string, Uint8Array> = {};
  for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    contents[path.slice(root.length + 1)] = new Uint8Array(readFileSync(path));
  }
  return contents;
}

/** JSON Lines of a fixture's expectation. */
export function expectedLines<T>(path: string): T[] {
  const bytes = readFileSync(join(FIXTURES, path));
  const text = (path.endsWith(".gz") ? gunzipSync(bytes) : bytes).toString("utf8");
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as T);
}

/** A whole import. */
export async function importAll(
  files: ImportFiles | Record<string, Uint8Array | string>,
  format?: string,
): Promise<{ records: ImportedRecord[]; report: ImportReport; format: string }> {
  const place =
    "list" in files && typeof files.list === "function"
      ? (files as ImportFiles)
      : memoryFiles(files as Record<string, Uint8Array>);
  const { records, report, importer } = await runImport(place, format === undefined ? {} : { format });
  const all: ImportedRecord[] = [];
  for await (const record of records) all.push(record);
  return { records: all, report, format: importer.name };
}

/** `actual` cut down to the keys that `expected` has, at every depth; `origin` to kind and model. */
export function onExpectedKeys(actual: unknown, expected: unknown, key = ""): unknown {
  if (Array.isArray(expected) && Array.isArray(actual)) {
    return actual.map((value, index) =>
      index < expected.length ? onExpectedKeys(value, expected[index]) : value,
    );
  }
  if (typeof expected !== "object" || expected === null || typeof actual !== "object" || actual === null) {
    return actual;
  }
  const cut: Record<string, unknown> = {};
  for (const name of Object.keys(expected)) {
    if (key === "origin" && name !== "kind" && name !== "model")
      cut[name] = (expected as Record<string, unknown>)[name];
    else if (Object.hasOwn(actual, name)) {
      cut[name] = onExpectedKeys(
        (actual as Record<string, unknown>)[name],
        (expected as Record<string, unknown>)[name],
        name,
      );
    }
  }
  return cut;
}
