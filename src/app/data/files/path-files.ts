/** Files with their paths, as they were dropped or picked. */

import { byteChunks } from "../../../formats/bytes.ts";
import { maybeGunzip } from "../../../formats/gunzip.ts";
import { isIndexHeader } from "../../../formats/indexed/index.ts";
import { detectKind } from "../../../formats/kinds.ts";
import { readLines } from "../../../formats/lines.ts";
import { isWhatIfRecord } from "../../../formats/what-if-record.ts";

export interface NamedBlob {
  path: string;
  file: Blob;
}

/** The folder that all the files lie in, at any depth, part by part. */
export function commonFolder(entries: readonly { path: string }[]): string[] {
  const folders = entries.map(({ path }) => path.split("/").slice(0, -1));
  let common = folders[0] ?? [];
  for (const folder of folders) {
    const differs = common.findIndex((part, i) => folder[i] !== part);
    if (differs >= 0) common = common.slice(0, differs);
  }
  return common;
}

/** Takes the folder away that all the files lie in, at any depth: importers look at what is in it. */
export function withoutCommonFolder(entries: readonly NamedBlob[]): { folder: string; files: NamedBlob[] } {
  const common = commonFolder(entries);
  const start = common.reduce((sum, part) => sum + part.length + 1, 0);
  return {
    folder: common.at(-1) ?? "",
    files: entries.map(({ path, file }) => ({ path: path.slice(start), file })),
  };
}

export type LinesKind = "records" | "index" | "scores" | "optimal" | "what-if" | "foreign";

/** True for what looks like records and not like a part of a model. */
export function isRecordFile({ path }: { path: string }): boolean {
  return /\.(jsonl|ndjson)(\.gz)?$/i.test(path);
}

/**
 * What a file of lines is, by the first of them: lists of recorded scores, optimal actions, an index, a what-if, records of ours, or
 * another program's. What cannot be read counts as records: whoever reads all of it says what is wrong with it.
 */
export async function firstLine({ path, file }: NamedBlob): Promise<LinesKind> {
  return linesKind(byteChunks(file.stream()), path);
}

/** See `firstLine`; no more of the bytes is read than that takes. */
export async function linesKind(chunks: AsyncIterable<Uint8Array>, path: string): Promise<LinesKind> {
  try {
    for await (const { text } of readLines(maybeGunzip(chunks, path), path)) {
      const value: unknown = JSON.parse(text);
      if (typeof value !== "object" || value === null || Array.isArray(value)) return "foreign";
      if ("format" in value && typeof value.format === "string" && value.format.startsWith("gcopd.")) {
        if (isWhatIfRecord(value)) return "what-if";
        return isIndexHeader(value) ? "index" : "records";
      }
      const kind = detectKind(value);
      return kind === "score-output" ? "scores" : kind === "optimal" ? "optimal" : "foreign";
    }
  } catch {
    // See above.
  }
  return "records";
}

/** True for lines that are another program's: the first is a whole JSON object of none of our formats. */
export async function isForeign(entry: NamedBlob): Promise<boolean> {
  return (await firstLine(entry)) === "foreign";
}
