/** Files with their paths, as they were dropped or picked. */
import { isWhatIfRecord } from "../../core/evidence/what-if-record.ts";
import { byteChunks } from "../../core/record/bytes.ts";
import { gunzip, isGzip } from "../../core/record/gunzip.ts";
import { INDEX_FORMAT } from "../../core/record/indexed/index.ts";
import { detectKind } from "../../core/record/kinds.ts";
import { readLines } from "../../core/record/lines.ts";

export interface NamedBlob {
  path: string;
  file: Blob;
}

/** Takes the folder away that all the files lie in, at any depth: importers look at what is in it. */
export function withoutCommonFolder(entries: readonly NamedBlob[]): { folder: string; files: NamedBlob[] } {
  const folders = entries.map(({ path }) => path.split("/").slice(0, -1));
  let common = folders[0] ?? [];
  for (const folder of folders) {
    const differs = common.findIndex((part, i) => folder[i] !== part);
    if (differs >= 0) common = common.slice(0, differs);
  }
  const start = common.reduce((sum, part) => sum + part.length + 1, 0);
  return {
    folder: common.at(-1) ?? "",
    files: entries.map(({ path, file }) => ({ path: path.slice(start), file })),
  };
}

/**
 * What a file of lines is, by the first of them: lists of recorded scores, an index, a what-if, records of ours, or
 * another program's. What cannot be read counts as records: whoever reads all of it says what is wrong with it.
 */
export async function firstLine({
  path,
  file,
}: NamedBlob): Promise<"records" | "index" | "scores" | "what-if" | "foreign"> {
  try {
    const head = new Uint8Array(await file.slice(0, 2).arrayBuffer());
    const chunks = byteChunks(file.stream());
    for await (const { text } of readLines(isGzip(head) ? gunzip(chunks, path) : chunks, path)) {
      const value: unknown = JSON.parse(text);
      if (typeof value !== "object" || value === null || Array.isArray(value)) return "foreign";
      if ("format" in value && typeof value.format === "string" && value.format.startsWith("gcopd.")) {
        if (isWhatIfRecord(value)) return "what-if";
        return value.format === INDEX_FORMAT ? "index" : "records";
      }
      return detectKind(value) === "score-output" ? "scores" : "foreign";
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
