/** What is fuzzed: the record reader and every importer, each with small files of its own to damage. */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { parquetWriteBuffer } from "hyparquet-writer/src/index.js";
import type { Episode, Source } from "../../src/core/record/schema.ts";
import { memoryFiles } from "../../src/formats/import/files.ts";
import { runImport } from "../../src/formats/import/run-import.ts";
import { readAnyRecords } from "../../src/formats/read.ts";
import { csvOf } from "../../src/formats/table/csv-text.ts";
import { parquetOf } from "../../src/formats/table/parquet-bytes.ts";
import { sameValue } from "../../src/formats/table/same-value.ts";
import { rowsOf } from "../../src/formats/table/to-rows.ts";
import type { Uniform } from "./mutate.ts";

export type Files = Readonly<Record<string, Uint8Array>>;

export interface Target {
  name: string;
  /** How often it is drawn. */
  weight: number;
  seeds: readonly Files[];
  /** Names by which a file is known elsewhere (hashes in a manifest) follow a damaged file, half of the time. */
  hashed?: boolean;
  /** How a file is damaged; `damageFile` where nothing is said. */
  damage?: (path: string, bytes: Uint8Array, uniform: Uniform) => Uint8Array;
  /** Reads the files to the end; every record is handed to `take`. */
  run(files: Files, take: (record: object) => void): Promise<void>;
}

const encode = (text: string) => new TextEncoder().encode(text);

/** All files below a folder, by their path in it. */
function folder(path: string, keep: (name: string) => boolean = () => true): Files {
  const files: Record<string, Uint8Array> = {};
  for (const entry of readdirSync(path, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const full = join(entry.parentPath, entry.name);
    const name = full.slice(path.length + 1);
    if (keep(name)) files[name] = new Uint8Array(readFileSync(full));
  }
  return files;
}

function importer(name: string, weight: number, seeds: Files[], hashed = false): Target {
  return {
    name: `import ${name}`,
    weight,
    seeds,
    hashed,
    async run(files, take) {
      const { records } = await runImport(memoryFiles(files), { format: name });
      for await (const { record } of records) take(record);
    },
  };
}

/** The first records of a fixture, their decisions cut to a few: short files let many inputs be tried. */
function shortRecords(path: string, count: number): Record<string, unknown>[] {
  return gunzipSync(readFileSync(path))
    .toString()
    .split("\n")
    .slice(0, count)
    .map((line) => JSON.parse(line))
    .map((record) =>
      Array.isArray(record.decisions) ? { ...record, decisions: record.decisions.slice(0, 3) } : record,
    );
}

async function collect(parts: AsyncIterable<string | Uint8Array>): Promise<Uint8Array> {
  const all: Uint8Array[] = [];
  for await (const part of parts) all.push(typeof part === "string" ? encode(part) : part);
  return new Uint8Array(Buffer.concat(all));
}

type Exported = Source | Episode;

/** Records to both tables and back: equal, or the program is at fault. */
async function roundTrip(records: readonly Exported[], take: (record: object) => void): Promise<void> {
  async function* rows() {
    for (const record of records) yield* rowsOf(record);
  }
  const tables = { "a.csv": await collect(csvOf(rows())), "a.parquet": await collect(parquetOf(rows())) };
  for (const [name, bytes] of Object.entries(tables)) {
    const back = await runImport(memoryFiles({ [name]: bytes }));
    let n = 0;
    for await (const { record } of back.records) {
      if (!sameValue(record, records[n])) throw new Error(`record ${n} comes back from ${name} changed`);
      n++;
      if (name === "a.csv") take(record);
    }
    if (n !== records.length) throw new Error(`${records.length} records went into ${name}, ${n} came back`);
  }
}

/** Encodings that other writers choose, where the exporter's own files do not use them. */
function deltaParquet(): Uint8Array {
  const text = ["look around", "look at cup", "", "go to kitchen"];
  return new Uint8Array(
    parquetWriteBuffer({
      columnData: [
        { name: "input", type: "STRING", encoding: "DELTA_BYTE_ARRAY", data: text },
        { name: "output", type: "STRING", encoding: "DELTA_LENGTH_BYTE_ARRAY", data: text },
        { name: "score", type: "DOUBLE", encoding: "BYTE_STREAM_SPLIT", data: [0, 1, 0.5, null] },
        { name: "step", type: "INT32", encoding: "DELTA_BINARY_PACKED", data: [7, 7, 7, 7] },
      ],
    }),
  );
}

/** Makes all targets. `root`: test/fixtures of the repository. */
export async function makeTargets(root: string): Promise<Target[]> {
  const other = join(root, "imports/other");
  const file = (name: string): Files => ({
    [name.replace(/^.*\//, "")]: new Uint8Array(readFileSync(join(other, name))),
  });
  const lines = (records: object[]) =>
    encode(records.map((record) => `${JSON.stringify(record)}\n`).join(""));
  const sources = shortRecords(join(root, "scienceworld/sources.jsonl.gz"), 4);
  const episodes = shortRecords(join(root, "scienceworld/episodes.jsonl.gz"), 3);
  const retrieval = shortRecords(join(root, "scienceworld/retrieval-expected.jsonl.gz"), 8);
  const scores = [
    { id: "a", prompt_ids: [1, 2], response_ids: [3] },
    { id: "a", logprobs: [-0.5] },
    {
      episode: "e",
      prompt_ids: [1],
      response_ids: [2, 3],
      teacher_logprobs: [-1, -2],
      rollout_logprobs: [-1, -1],
    },
  ];
  const table = async function* () {
    for (const record of sources) yield* rowsOf(record as unknown as Source);
  };
  const record = [sources, episodes, retrieval, scores].map((all) => lines(all));
  const zipped = new Uint8Array(gzipSync(record[0]!));
  const catalog = (name: string) => join(root, "imports", name);
  const few = (name: string) => !/_r(0[3-9]|1\d)\.json$/.test(name);
  return [
    {
      name: "record reader",
      weight: 40,
      seeds: [...record.map((bytes) => ({ "a.jsonl": bytes })), { "a.jsonl.gz": zipped }],
      async run(files, take) {
        for (const [name, bytes] of Object.entries(files)) {
          for await (const { record: found } of readAnyRecords(bytes, { file: name })) take(found);
        }
      },
    },
    {
      name: "export",
      weight: 10,
      seeds: record.slice(0, 2).map((bytes) => ({ "a.jsonl": bytes })),
      async run(files, take) {
        for (const [name, bytes] of Object.entries(files)) {
          const found: Exported[] = [];
          for await (const { kind, record } of readAnyRecords(bytes, { file: name })) {
            if (kind === "source" || kind === "episode") found.push(record as Exported);
          }
          if (found.length > 0) await roundTrip(found, take);
        }
      },
    },
    importer("sharegpt", 8, [
      file("eto-sharegpt.json"),
      file("agentgym_alfworld.json"),
      file("conversations.parquet"),
      file("conversations-plain.parquet"),
    ]),
    importer("openai-chat", 6, [file("openai-chat.jsonl")]),
    importer("verl", 8, [file("verl-rollouts/7.jsonl"), { "7.parquet": deltaParquet() }]),
    importer("webshop-session", 8, [folder(join(other, "webshop-sessions"))]),
    importer("scienceworld-history", 6, [file("scienceworld-histories-0-1.json")]),
    importer("atif", 6, [folder(join(other, "atif"))]),
    importer("tcod", 3, [
      {
        "a.jsonl": lines([
          { game_file: "a/b", target: "put", actions: ["go", "look"] },
          { game_file: "c", actions: [] },
        ]),
      },
    ]),
    importer("table", 8, [
      { "a.csv": await collect(csvOf(table())) },
      { "a.parquet": await collect(parquetOf(table())) },
    ]),
    importer("scienceworld-catalog", 3, [folder(catalog("scienceworld-catalog/catalog"), few)], true),
    importer("webshop-catalog", 2, [folder(catalog("webshop-catalog/catalog"), few)], true),
    importer("alfworld-catalog", 2, [folder(catalog("alfworld-catalog-base/catalog"))], true),
    importer("alfworld-sources", 3, [
      folder(catalog("alfworld-sources"), (name) => name.startsWith("episodes/")),
    ]),
    importer("student-run", 3, [
      folder(catalog("alfworld-run"), (name) => /^(episodes|teacher_scores)\//.test(name)),
      folder(catalog("webshop-run"), (name) => /3890e8946839016432ce22828a30528e/.test(name)),
    ]),
  ];
}

const hex = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");

/** The files with `path` changed, and its hash where other files name it. */
export function withHashes(files: Files, path: string, bytes: Uint8Array): Files {
  const before = hex(files[path]!);
  const after = hex(bytes);
  const result: Record<string, Uint8Array> = {};
  for (const [name, content] of Object.entries(files)) {
    if (name === path) result[name] = bytes;
    else if (!name.endsWith(".json")) result[name] = content;
    else {
      const text = new TextDecoder().decode(content);
      result[name] = text.includes(before) ? encode(text.replaceAll(before, after)) : content;
    }
  }
  return result;
}
