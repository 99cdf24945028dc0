/** Paths from outside that must stay inside a folder, whatever they spell and wherever links lead. */
import { realpath, stat } from "node:fs/promises";
import { isAbsolute, resolve, sep } from "node:path";
import { unlessPassing } from "../../node/file-error.ts";

/** True for a path that names something below a folder by its spelling: relative, without `..` and empty parts. */
export function isPlainPath(path: string): boolean {
  const parts = path.split(/[/\\]/);
  return !isAbsolute(path) && !path.includes("\0") && !parts.includes("..") && !parts.includes("");
}

/** What a plain path names on the disk, links followed; null where there is nothing, or it lies outside the folder. @throws faults that pass */
export async function inside(
  folder: string,
  path: string,
): Promise<{ file: string; kind: "file" | "folder" } | null> {
  const root = await realpath(folder).catch(unlessPassing);
  if (root === null) return null;
  const file = await realpath(resolve(root, path)).catch(unlessPassing);
  if (file === null || (file !== root && !file.startsWith(root.endsWith(sep) ? root : root + sep)))
    return null;
  const found = await stat(file).catch(unlessPassing);
  if (found?.isFile()) return { file, kind: "file" };
  return found?.isDirectory() ? { file, kind: "folder" } : null;
}
