/** The folder of the worker's disk that the page may read from: its files and folders, and nothing outside it. */
import { readdir, realpath, stat } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { InputError } from "../../core/errors.ts";
import { unlessPassing } from "../../node/file-error.ts";
import type { SharedEntry, SharedList } from "../../protocol/files.ts";
import { ApiError } from "../http/errors.ts";
import { inside, isPlainPath } from "./inside.ts";

/** Entries of one folder that are listed. */
export const MOST = 5000;

/** @throws InputError unless this is a folder that can be read. */
export async function checkSharedFolder(path: string): Promise<string> {
  const found = await inside(path, ".");
  if (found?.kind === "folder") return found.file;
  throw new InputError(`expected a folder that can be read, got ${JSON.stringify(path)}`, { key: "--files" });
}

/** Hidden names, and what leads out of the folder, are neither listed nor served. */
function checkPath(path: string, where: string): void {
  if (isPlainPath(path) && !path.split("/").some((part) => part.startsWith("."))) return;
  throw new InputError(
    `expected a path below the shared folder without hidden names, got ${JSON.stringify(path)}`,
    {
      file: where,
      key: "path",
    },
  );
}

/** As `inside`; null, too, for a link that leads to what is hidden in the folder. */
async function visible(root: string, path: string): ReturnType<typeof inside> {
  const found = await inside(root, path);
  if (found === null) return null;
  const hidden = relative(await realpath(root), found.file)
    .split(sep)
    .some((part) => part.startsWith("."));
  return hidden ? null : found;
}

/** @throws InputError for a path that leads, or could lead, out; ApiError 404 for a folder that is not there. */
export async function listShared(root: string, path: string, where: string): Promise<SharedList> {
  if (path !== "") checkPath(path, where);
  const folder = await visible(root, path === "" ? "." : path);
  if (folder?.kind !== "folder")
    throw new ApiError(404, `${where}: the shared folder has no folder ${JSON.stringify(path)}`);
  const names = (await readdir(folder.file)).filter((name) => !name.startsWith("."));
  const entries: SharedEntry[] = [];
  for (const name of names.sort((a, b) => (a < b ? -1 : 1)).slice(0, MOST)) {
    // Links may lead anywhere: only those that stay inside are there.
    const real = await realpath(join(folder.file, name)).catch(unlessPassing);
    const found = real === null ? null : await visible(root, join(path, name));
    if (found === null) continue;
    const { size, mtime } = await stat(found.file);
    entries.push({
      name,
      kind: found.kind,
      bytes: found.kind === "file" ? size : null,
      modified_at: mtime.toISOString(),
    });
  }
  const folders = (entry: SharedEntry): number => (entry.kind === "folder" ? 0 : 1);
  entries.sort((a, b) => folders(a) - folders(b));
  return { path, entries, more: Math.max(0, names.length - MOST) };
}

/** The file on disk behind a path. @throws InputError, or ApiError 404, as `listShared`. */
export async function sharedFile(root: string, path: string, where: string): Promise<string> {
  checkPath(path, where);
  const found = await visible(root, path);
  if (found?.kind !== "file")
    throw new ApiError(404, `${where}: the shared folder has no file ${JSON.stringify(path)}`);
  return found.file;
}
