/** A folder or file of this machine as what importers read. */
import { createReadStream } from "node:fs";
import { readdir, realpath, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { ImportFile, ImportFiles } from "../formats/import/index.ts";
import { fileError, onFile, unlessPassing } from "../node/file-error.ts";

async function* bytesOf(path: string, start: number): AsyncGenerator<Uint8Array> {
  const stream = createReadStream(path, { start, highWaterMark: 1 << 18 });
  try {
    yield* stream as AsyncIterable<Uint8Array>;
  } catch (error) {
    throw fileError(error, path, "read");
  } finally {
    stream.destroy();
  }
}

/** Null where nothing is to be seen: a link that leads nowhere is no file. What a fault hides would be left out in silence. */
const seen = (path: string) => onFile(path, "read", stat(path).catch(unlessPassing));

/** Regular files below a folder, links followed, each folder once. */
async function walk(
  root: string,
  prefix: string,
  above: ReadonlySet<string>,
  found: ImportFile[],
): Promise<void> {
  const folder = prefix === "" ? root : join(root, prefix);
  const real = await onFile(folder, "read", realpath(folder));
  if (above.has(real)) return;
  const inside = new Set(above).add(real);
  for (const entry of await onFile(folder, "read", readdir(folder, { withFileTypes: true }))) {
    const path = prefix === "" ? entry.name : `${prefix}/${entry.name}`;
    const info = await seen(join(root, path));
    if (info?.isDirectory()) await walk(root, path, inside, found);
    else if (info?.isFile()) found.push({ path, size: info.size });
  }
}

/** The files of a folder, or a single file. `InputError` when there is neither. */
export async function importFolder(path: string): Promise<ImportFiles> {
  const info = await onFile(path, "read", stat(path));
  const single = !info.isDirectory();
  const root = single ? dirname(path) : path;
  let listed: Promise<readonly ImportFile[]> | undefined;
  const list = async (): Promise<readonly ImportFile[]> => {
    if (single) return [{ path: basename(path), size: info.size }];
    const found: ImportFile[] = [];
    await walk(root, "", new Set(), found);
    return found.sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0));
  };
  return {
    name: single && root === "." ? "" : root.replace(/\/+$/, ""),
    list: () => {
      listed ??= list();
      return listed;
    },
    open: (inside, start = 0) => bytesOf(join(root, inside), start),
    async absolute(named) {
      const there = await seen(named);
      if (!there?.isFile()) return undefined;
      return { size: there.size, open: () => bytesOf(named, 0) };
    },
  };
}
