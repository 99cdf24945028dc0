/** What a file begins with: enough to tell its format and its container, without reading it whole. */
import { byteChunks } from "../../bytes.ts";
import { maybeGunzip } from "../../gunzip.ts";
import { firstRecordColumns } from "../../table/csv-text.ts";
import { type ImportFile, type ImportFiles, label } from "../files.ts";
import { completeValue } from "./complete-value.ts";
import { isParquet, parquetFile, readParquetRows } from "./parquet.ts";

/** How a file holds its rows: one JSON document, JSON Lines, Parquet, or comma-separated values. */
export type Container = "json" | "lines" | "parquet" | "csv";

export interface Peek {
  path: string;
  container: Container;
  /** The first row, when it lies whole in the beginning of the file. */
  first?: Record<string, unknown>;
  /** The beginning of the text; empty for Parquet. */
  head: string;
}

/** Text that is looked at when the first row is not whole before. Rows of real dumps stay far below. */
const LONGEST_HEAD = 1 << 22;

/** The beginning of a file's (decompressed) text, `limit` bytes or a little more. */
async function readHead(files: ImportFiles, path: string, limit: number): Promise<string> {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  let text = "";
  let length = 0;
  for await (const chunk of maybeGunzip(byteChunks(files.open(path)), path)) {
    text += decoder.decode(chunk, { stream: true });
    length += chunk.length;
    if (length >= limit) break;
  }
  return text;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function peekText(path: string, head: string): Peek | undefined {
  const start = head.search(/\S/);
  if (start < 0) return undefined;
  if (head[start] !== "[" && head[start] !== "{") {
    return firstRecordColumns(head) === undefined ? undefined : { path, container: "csv", head };
  }
  const named: Container = /\.(jsonl|ndjson)(\.gz)?$/i.test(path) ? "lines" : "json";
  if (head[start] === "[") {
    const inner = completeValue(head, start + 1);
    return {
      path,
      container: "json",
      head,
      ...(isObject(inner?.value) ? { first: inner.value } : {}),
    };
  }
  const whole = completeValue(head, start);
  if (whole === undefined) return { path, container: named, head };
  const after = head.slice(whole.end).search(/\S/);
  const container = after >= 0 && head[whole.end + after] === "{" ? "lines" : named;
  return { path, container, head, ...(isObject(whole.value) ? { first: whole.value } : {}) };
}

/** Looks at one file; undefined for what is neither JSON, Parquet nor an exported table. Never throws. */
export async function peek(files: ImportFiles, { path, size }: ImportFile): Promise<Peek | undefined> {
  try {
    const start = await readHead(files, path, 1 << 16);
    if (isParquet(start)) {
      const file = parquetFile(files, path, size);
      for await (const row of readParquetRows(file, label(files, path), 1)) {
        return { path, container: "parquet", first: row, head: "" };
      }
      return { path, container: "parquet", head: "" };
    }
    const found = peekText(path, start);
    if (found === undefined || found.first !== undefined || found.container === "csv") return found;
    return peekText(path, await readHead(files, path, LONGEST_HEAD));
  } catch {
    return undefined;
  }
}
