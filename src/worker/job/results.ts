/** The files of a job's output folder, and nothing outside it. */
import { readdir, stat } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { InputError } from "../../core/errors.ts";
import { unlessPassing } from "../../node/file-error.ts";
import type { ResultFile } from "../../protocol/files.ts";
import { inside, isPlainPath } from "../files/inside.ts";
import { ApiError } from "../http/errors.ts";

/** All regular files, by path. Links are left out: they may lead elsewhere. */
export async function listResults(folder: string): Promise<ResultFile[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return [];
      throw error;
    },
  );
  const files: ResultFile[] = [];
  for (const entry of entries) {
    // What is unfinished is no result.
    if (!entry.isFile() || entry.name.endsWith(".part")) continue;
    const file = join(entry.parentPath, entry.name);
    // A running job may have renamed it since.
    const found = await stat(file).catch(unlessPassing);
    if (found === null) continue;
    const path = relative(folder, file).split(sep).join("/");
    files.push({ path, bytes: found.size, modified_at: found.mtime.toISOString() });
  }
  return files.sort((a, b) => (a.path < b.path ? -1 : 1));
}

/**
 * The file on disk behind a path of the list.
 * @throws InputError when the path leads, or could lead, out of the folder; ApiError 404 when there is no such file.
 */
export async function resultFile(folder: string, path: string, where: string): Promise<string> {
  if (!isPlainPath(path)) {
    throw new InputError(`expected a path of the job's list of results, got ${JSON.stringify(path)}`, {
      file: where,
      key: "path",
    });
  }
  const found = await inside(folder, path);
  if (found?.kind !== "file")
    throw new ApiError(404, `${where}: the job has no result ${JSON.stringify(path)}`);
  return found.file;
}
