/** Files with their paths, as they were dropped or picked. */
import { gunzip, isGzip } from "../../core/record/gunzip.ts";
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

/** True for lines that are another program's: the first is a whole JSON object without a format of ours. */
export async function isForeign({ path, file }: NamedBlob): Promise<boolean> {
  try {
    const head = new Uint8Array(await file.slice(0, 2).arrayBuffer());
    const chunks = file.stream();
    for await (const { text } of readLines(isGzip(head) ? gunzip(chunks, path) : chunks, path)) {
      const value: unknown = JSON.parse(text);
      if (typeof value !== "object" || value === null || Array.isArray(value)) return true;
      return !("format" in value && typeof value.format === "string" && value.format.startsWith("gcopd."));
    }
  } catch {
    // Whoever reads all of it says what is wrong with it.
  }
  return false;
}
