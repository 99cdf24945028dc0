/** Files that a job will read, sent by the page before the job is submitted. */
import { createWriteStream } from "node:fs";
import { mkdir, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { ReadableStream as NodeReadableStream } from "node:stream/web";
import { InputError } from "../../core/errors.ts";

/** A name, or a folder's and a name: nothing that could lead elsewhere. */
const PATH = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}(\/[A-Za-z0-9][A-Za-z0-9._-]{0,99})?$/;

/**
 * Writes a body below `folder`, whole or not at all.
 *
 * @returns the absolute path and its size
 * @throws InputError for a path that is no plain name, or a folder's and a name
 */
export async function writeInput(
  folder: string,
  path: string,
  body: ReadableStream<Uint8Array> | null,
  where: string,
): Promise<{ path: string; bytes: number }> {
  if (!PATH.test(path)) {
    throw new InputError(
      `expected a file name of letters, digits, . _ and -, at most one folder before it, got ${JSON.stringify(path)}`,
      { file: where, key: "path" },
    );
  }
  const file = join(folder, ...path.split("/"));
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const part = `${file}.part`;
  try {
    const stream = body === null ? Readable.from([]) : Readable.fromWeb(body as NodeReadableStream);
    await pipeline(stream, createWriteStream(part, { mode: 0o600 }));
    await rename(part, file);
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
  return { path: file, bytes: (await stat(file)).size };
}
