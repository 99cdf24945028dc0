/**
 * Files of the folder that the worker shares (`gcopd worker --files FOLDER`), listed and read over its API: by the page
 * and by its Web Workers alike, so all here is plain data.
 */
import { InputError } from "../../../core/errors.ts";
import type { ImportFile, ImportFiles } from "../../../formats/import/index.ts";
import { SharedList } from "../../../protocol/files.ts";
import { reached, readAnswer, readRefusal } from "./read-answer.ts";

/** Where the shared folder is asked for, and the token for it. */
export interface SharedSource {
  /** Ends with `/api/shared`. */
  list: string;
  /** Ends with a slash; a path below the shared folder follows. */
  content: string;
  token: string;
}

/** The route of the list, in messages. */
const LIST = "GET /api/shared";

export interface SharedOptions {
  signal?: AbortSignal;
}

/** The address of a file's content. */
export function sharedAddress({ content }: Pick<SharedSource, "content">, path: string): string {
  return `${content}${path.split("/").map(encodeURIComponent).join("/")}`;
}

/** `fetch` with the worker's token. */
export function withToken({ token }: Pick<SharedSource, "token">): typeof fetch {
  return (input, init) => {
    const headers = new Headers(init?.headers);
    headers.set("Authorization", `Bearer ${token}`);
    return fetch(input, { ...init, headers });
  };
}

/** The entries of a folder below the shared one. `InputError` with the worker's own line when it refuses. */
export async function listSharedFolder(
  source: SharedSource,
  path: string,
  options: SharedOptions = {},
): Promise<SharedList> {
  const address = `${source.list}?path=${encodeURIComponent(path)}`;
  const response = await reached(withToken(source)(address, options));
  const text = await reached(response.text());
  if (response.status === 401)
    throw new InputError("the worker has been restarted since this page was opened: open the page again");
  if (!response.ok) throw readRefusal(LIST, response.status, text);
  return readAnswer(SharedList, LIST, text);
}

/** Folders that are asked for at a time. */
const TOGETHER = 8;
/** What a folder may hold at most; a link that leads back into it would never end. */
const MOST_FILES = 100_000;
const MOST_DEPTH = 32;

/** Every file below a folder, by path inside it. `InputError` where there are too many to list. */
async function listedBelow(
  source: SharedSource,
  folder: string,
  { signal, onListed }: SharedOptions & { onListed?: (files: number) => void },
): Promise<ImportFile[]> {
  const at = (path: string): string => [folder, path].filter((part) => part !== "").join("/");
  const files: ImportFile[] = [];
  let level = [""];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MOST_DEPTH)
      throw new InputError(`its folders lie more than ${MOST_DEPTH} deep in each other`, { file: folder });
    const next: string[] = [];
    for (let first = 0; first < level.length; first += TOGETHER) {
      signal?.throwIfAborted();
      const paths = level.slice(first, first + TOGETHER);
      const lists = await Promise.all(
        paths.map((path) => listSharedFolder(source, at(path), signal === undefined ? {} : { signal })),
      );
      for (const [i, { entries, more }] of lists.entries()) {
        if (more > 0)
          throw new InputError(
            `holds ${more} entries more than the worker lists: import it with \`gcopd import\``,
            { file: at(paths[i]!) },
          );
        for (const { name, kind, bytes } of entries) {
          const path = paths[i] === "" ? name : `${paths[i]}/${name}`;
          if (kind === "folder") next.push(path);
          else files.push({ path, size: bytes ?? 0 });
        }
      }
      if (files.length > MOST_FILES)
        throw new InputError(`holds more than ${MOST_FILES} files: import it with \`gcopd import\``, {
          file: folder,
        });
      onListed?.(files.length);
    }
    level = next;
  }
  return files.sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0));
}

/**
 * A folder below the shared one as importers read it; empty for the shared folder itself. It is listed here, once; a
 * file is streamed when it is read.
 */
export async function sharedImportFiles(
  source: SharedSource,
  folder: string,
  options: SharedOptions & { onListed?: (files: number) => void } = {},
): Promise<ImportFiles> {
  const all = await listedBelow(source, folder, options);
  const sizes = new Map(all.map(({ path, size }) => [path, size]));
  const { signal } = options;
  return {
    name: "",
    list: async () => all,
    async *open(path, start = 0) {
      const size = sizes.get(path);
      if (size === undefined) throw new InputError("no such file", { file: path });
      if (start >= size) return;
      const full = folder === "" ? path : `${folder}/${path}`;
      const response = await asked(source, full, `bytes=${start}-`, signal);
      const reader = response.body!.getReader();
      let read = start;
      try {
        const part = () => reached(reader.read(), path);
        for (let next = await part(); !next.done; next = await part()) {
          read += next.value.length;
          yield next.value;
        }
      } finally {
        await reader.cancel().catch(() => undefined);
      }
      if (read !== size)
        throw new InputError("has changed on the worker's disk: open it again", { file: path });
    },
  };
}

async function asked(
  source: Pick<SharedSource, "content" | "token">,
  path: string,
  range: string,
  signal?: AbortSignal,
): Promise<Response> {
  const response = await reached(
    withToken(source)(sharedAddress(source, path), {
      headers: { Range: range },
      ...(signal === undefined ? {} : { signal }),
    }),
    path,
  );
  if (response.status === 206 && response.body !== null) return response;
  await response.body?.cancel();
  throw new InputError(
    response.status === 416
      ? "has changed on the worker's disk: open it again"
      : `the worker answered ${response.status}`,
    { file: path },
  );
}

/** A file of the worker's disk that stays there: plain data, read in parts. */
export interface SharedFile extends Pick<SharedSource, "content" | "token"> {
  kind: "shared";
  /** Below the shared folder. */
  path: string;
  size: number;
}

/** Bytes [start, end) of a file. `InputError` when it is not as it was listed. */
export async function readShared(file: SharedFile, start: number, end: number): Promise<Uint8Array> {
  if (start === end) return new Uint8Array(0);
  const response = await asked(file, file.path, `bytes=${start}-${end - 1}`);
  const range = `bytes ${start}-${end - 1}/${file.size}`;
  if (response.headers.get("Content-Range") !== range) {
    await response.body?.cancel();
    throw new InputError("has changed on the worker's disk: open it again", { file: file.path });
  }
  return new Uint8Array(await reached(response.arrayBuffer(), file.path));
}

/** All of it as a blob, which a browser keeps out of the page's memory where it is large. */
export async function sharedBlob(file: SharedFile): Promise<Blob> {
  if (file.size === 0) return new Blob([]);
  const response = await asked(file, file.path, "bytes=0-");
  const blob = await reached(response.blob(), file.path);
  if (blob.size !== file.size)
    throw new InputError("has changed on the worker's disk: open it again", { file: file.path });
  return blob;
}
