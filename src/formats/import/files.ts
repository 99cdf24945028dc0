/**
 * The folder or file that an importer reads, as a port: the same importers work over Node's file system, over files
 * dropped on a page (`blobFiles`) and over memory (`memoryFiles`).
 */
import { InputError } from "../../core/errors.ts";

/** One file of the folder. */
export interface ImportFile {
  /** Path inside the folder, `/` between parts, without a leading one. */
  readonly path: string;
  /** Bytes as stored. */
  readonly size: number;
}

/** A folder with all that lies in it at any depth, or a single file. Importers only ever read. */
export interface ImportFiles {
  /** Put before paths in messages; empty for none. */
  readonly name: string;
  /** Every file, folders opened to any depth, sorted by path (code units). The same array each time. */
  list(): Promise<readonly ImportFile[]>;
  /** Bytes of a listed file, from `start` (default 0). `InputError` naming the file when it cannot be read. */
  open(path: string, start?: number): AsyncIterable<Uint8Array>;
  /**
   * A file by the absolute path that a manifest gives, where the place has such paths (Node, not a page). `undefined`
   * when there is no such file.
   */
  absolute?(path: string): Promise<{ size: number; open(): AsyncIterable<Uint8Array> } | undefined>;
}

/** How a file is called in messages. An absolute path, as a manifest may give one, stays what it is. */
export function label(files: ImportFiles, path: string): string {
  if (files.name === "" || isAbsolute(path)) return path;
  return path === "" ? files.name : `${files.name}/${path}`;
}

/** True for absolute paths of Unix and Windows. */
export function isAbsolute(path: string): boolean {
  return path.startsWith("/") || /^[A-Za-z]:[\\/]/.test(path);
}

function byPath(a: ImportFile, b: ImportFile): number {
  return a.path < b.path ? -1 : a.path > b.path ? 1 : 0;
}

/** Files in memory. Paths as in `ImportFile`; text is taken as UTF-8. */
export function memoryFiles(contents: Readonly<Record<string, Uint8Array | string>>, name = ""): ImportFiles {
  const encoder = new TextEncoder();
  const bytes = new Map(
    Object.entries(contents).map(([path, value]) => [
      path,
      typeof value === "string" ? encoder.encode(value) : value,
    ]),
  );
  const all = [...bytes].map(([path, value]) => ({ path, size: value.length })).sort(byPath);
  return {
    name,
    list: async () => all,
    async *open(path, start = 0) {
      const found = bytes.get(path);
      if (found === undefined) throw new InputError("no such file", { file: path });
      yield found.subarray(start);
    },
  };
}

/** Dropped or picked files: a `Blob` and its path inside what was dropped. */
export function blobFiles(entries: Iterable<{ path: string; file: Blob }>, name = ""): ImportFiles {
  const blobs = new Map([...entries].map(({ path, file }) => [path, file]));
  const all = [...blobs].map(([path, file]) => ({ path, size: file.size })).sort(byPath);
  return {
    name,
    list: async () => all,
    async *open(path, start = 0) {
      const blob = blobs.get(path);
      if (blob === undefined) throw new InputError("no such file", { file: path });
      const reader = blob.slice(start).stream().getReader();
      try {
        for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value;
      } catch (error) {
        throw new InputError(`cannot be read: ${error instanceof Error ? error.message : String(error)}`, {
          file: path,
        });
      } finally {
        await reader.cancel().catch(() => undefined);
      }
    },
  };
}

/** A folder inside `files` as a place of its own. `folder` without a `/` at its end; empty for `files` itself. */
export function subfolder(files: ImportFiles, folder: string): ImportFiles {
  if (folder === "") return files;
  const prefix = `${folder}/`;
  let listed: Promise<readonly ImportFile[]> | undefined;
  return {
    name: label(files, folder),
    list: () => {
      listed ??= files
        .list()
        .then((all) =>
          all
            .filter(({ path }) => path.startsWith(prefix))
            .map(({ path, size }) => ({ path: path.slice(prefix.length), size })),
        );
      return listed;
    },
    open: (path, start) => files.open(prefix + path, start),
    ...(files.absolute === undefined ? {} : { absolute: (path: string) => files.absolute!(path) }),
  };
}
