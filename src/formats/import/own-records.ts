/** Files that need no import, or hold nothing to import. */
import type { ImportFiles } from "./files.ts";
import { headText } from "./foreign-json.ts";

/**
 * Why one file that no importer knows is not imported, where more can be said than that: it is empty, or holds records
 * of library format 1 as it is. Undefined for everything else.
 */
export async function nothingToImport(files: ImportFiles, path: string): Promise<string | undefined> {
  const head = await headText(files, path);
  if (head.trim() === "") return "holds no records";
  const [first = ""] = head.split("\n", 1);
  const kind = /"format"\s*:\s*"gcopd\.(source|episode|retrieval)\.v1"/.exec(first)?.[1];
  if (kind === undefined) return undefined;
  return `holds ${kind} records of library format 1 already: there is nothing to import`;
}
