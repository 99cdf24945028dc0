/** The files that a catalog's manifest names: found, read, and checked against their SHA-256. */
import { sha256Bytes } from "../../core/seeded.ts";
import { type ImportFiles, isAbsolute, label } from "./files.ts";
import { gather, readBytes } from "./foreign-json.ts";
import type { ImportContext } from "./importer.ts";

/** A file that was looked for. */
export type Named =
  | { found: true; path: string; file: string; bytes: Uint8Array; sha256: string }
  | { found: false; path: string; reason: string };

/** `a/./b/../c` → `a/c`; undefined when it leads out of the catalog. */
function normalize(path: string): string | undefined {
  const parts: string[] = [];
  for (const part of path.split("/")) {
    if (part === "" || part === ".") continue;
    if (part !== "..") parts.push(part);
    else if (parts.pop() === undefined) return undefined;
  }
  return parts.join("/");
}

/** Files of one catalog. Paths are as the manifest writes them. */
export class CatalogFiles {
  readonly files: ImportFiles;
  readonly #context: ImportContext;
  #paths: Promise<Set<string>> | undefined;

  constructor(files: ImportFiles, context: ImportContext) {
    this.files = files;
    this.#context = context;
  }

  /** Whether the catalog itself holds a file. */
  async has(path: string): Promise<boolean> {
    this.#paths ??= this.files.list().then((all) => new Set(all.map((file) => file.path)));
    return (await this.#paths).has(path);
  }

  /**
   * The file that `path` names: as written; a relative path belongs to the catalog; an absolute one that does not exist
   * is looked for by its last three, two and one parts in the catalog.
   */
  async read(path: string): Promise<Named> {
    if (!isAbsolute(path)) {
      const inside = normalize(path);
      if (inside === undefined) return { found: false, path, reason: "leads out of the catalog" };
      return (await this.#inside(inside)) ?? { found: false, path, reason: "not in the catalog" };
    }
    const outside = await this.files.absolute?.(path);
    if (outside !== undefined) {
      const bytes = await gather(outside.open(), path);
      return { found: true, path, file: path, bytes, sha256: await sha256Bytes(bytes) };
    }
    const parts = path.split(/[\\/]/).filter((part) => part !== "" && part !== "." && part !== "..");
    for (const count of [3, 2, 1]) {
      if (parts.length < count) continue;
      const found = await this.#inside(parts.slice(-count).join("/"));
      if (found !== undefined) return found;
    }
    return { found: false, path, reason: "does not exist, nor does its last part lie in the catalog" };
  }

  async #inside(path: string): Promise<Named | undefined> {
    if (!(await this.has(path))) return undefined;
    this.#context.signal?.throwIfAborted();
    const bytes = await readBytes(this.files, path);
    return { found: true, path, file: label(this.files, path), bytes, sha256: await sha256Bytes(bytes) };
  }
}

/** Folders, the folder itself included, in which a file with this name lies; shallowest first. */
export async function foldersWith(files: ImportFiles, name: string): Promise<string[]> {
  const folders: string[] = [];
  for (const { path } of await files.list()) {
    if (path === name) folders.push("");
    else if (path.endsWith(`/${name}`)) folders.push(path.slice(0, -name.length - 1));
  }
  return folders.sort((a, b) => a.split("/").length - b.split("/").length || (a < b ? -1 : 1));
}

/** A context whose paths lie in a subfolder. */
export function contextIn(context: ImportContext, folder: string): ImportContext {
  if (folder === "") return context;
  const full = (path: string): string => (isAbsolute(path) ? path : `${folder}/${path}`);
  return {
    ...context,
    used: (path) => context.used(full(path)),
    skip: (path, reason) => context.skip(full(path), reason),
    warn: (path, message, key) => context.warn(full(path), message, key),
  };
}
