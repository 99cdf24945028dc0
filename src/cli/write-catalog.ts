import { rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { InputError } from "../core/errors.ts";
import { catalogFiles } from "../formats/export/catalog.ts";
import { isThere, onFile } from "../node/file-error.ts";
import { makeFolder, syncFolder, temporaryName, writeWhole } from "../node/whole-file.ts";
import { openIndexedFile } from "./indexed-file.ts";

/**
 * Writes the sources of a library as the authors' catalog, one task in memory at a time. The folder appears under its
 * name when all is on the disk.
 *
 * @throws InputError for a folder that already exists, a bad record, and sources that a catalog cannot hold
 */
export async function writeCatalog(library: string, out: string): Promise<{ tasks: number; files: number }> {
  if (isThere(out)) throw new InputError("already exists; a catalog is a new folder", { file: out });
  const { library: opened, close } = await openIndexedFile(library, { kind: "source" });
  const temporary = temporaryName(out);
  async function* tasks() {
    for (const place of opened.tasks.keys()) yield await opened.readTask(place);
  }
  try {
    let files = 0;
    try {
      for await (const { path, bytes } of catalogFiles(tasks())) {
        const target = join(temporary, path);
        await makeFolder(dirname(target));
        await writeWhole(target, [bytes], { name: join(out, path) });
        files += 1;
      }
    } finally {
      await close();
    }
    await onFile(out, "write", rename(temporary, out));
    await syncFolder(dirname(out));
    return { tasks: opened.tasks.length, files };
  } catch (error) {
    // The fault that came first is the one to tell.
    await rm(temporary, { recursive: true, force: true }).catch(() => undefined);
    if (!(error instanceof InputError) || error.where.file !== undefined) throw error;
    throw new InputError(error.reason, { ...error.where, file: library });
  }
}
