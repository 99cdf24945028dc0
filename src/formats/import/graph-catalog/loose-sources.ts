/** Recorders' files of ScienceWorld and WebShop without the catalog that says how each of them stands. */
import type { ImportFiles } from "../files.ts";
import { label } from "../files.ts";
import { headText } from "../foreign-json.ts";

/** Files looked at. */
const LOOKED_AT = 4;

/**
 * Why a folder of such files is not an import, or undefined when it is none. Only the manifest tells which executions replay
 * confirmed, which tasks they belong to and which were expected to be missing; the rest would be guesswork.
 */
export async function looseSources(files: ImportFiles): Promise<string | undefined> {
  const names = (await files.list()).map(({ path }) => path).filter((path) => /\.json(\.gz)?$/.test(path));
  for (const path of names.slice(0, LOOKED_AT)) {
    const head = await headText(files, path);
    const task = /"gamefile"\s*:\s*"(goal\d+|[^"|]+\|[^"]*)"/.exec(head)?.[1];
    if (task === undefined || !/"(gen_seed|rep)"\s*:/.test(head)) continue;
    const catalog = task.startsWith("goal") ? "WebShop" : "ScienceWorld";
    return `${label(files, path)} is a recorder's file of a ${catalog} catalog, whose MANIFEST.json is not here: import the catalog's folder, with MANIFEST.json and entries/`;
  }
  return undefined;
}
