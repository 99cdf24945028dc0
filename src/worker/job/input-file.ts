/** Files that a job will read, sent by the page before the job is submitted. */
import { mkdirSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { InputError } from "../../core/errors.ts";
import { isThere, onFileSync } from "../../node/file-error.ts";
import { makeFolder, syncFolderSync, temporaryName, writeWhole } from "../../node/whole-file.ts";
import { ApiError } from "../http/errors.ts";

/** A name, or a folder's and a name: nothing that could lead elsewhere. */
const PATH = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}(\/[A-Za-z0-9][A-Za-z0-9._-]{0,99})?$/;

/**
 * Writes a body below `folder`, whole or not at all. Of several bodies for one path, the one that is complete last stays.
 *
 * @param admit throws where the file may no longer be put there; asked once all of it has arrived
 * @returns the absolute path and the body's size in bytes
 * @throws InputError for a path that is not a plain name, or a folder's and a name; ApiError 409 where a file is in the
 *   way of a folder or a folder in the way of a file; 503 for faults of the disk
 */
export async function writeInput(
  folder: string,
  path: string,
  body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  where: string,
  admit: () => void,
): Promise<{ path: string; bytes: number }> {
  if (!PATH.test(path)) {
    throw new InputError(
      `expected a file name of letters, digits, . _ and -, at most one folder before it, got ${JSON.stringify(path)}`,
      { file: where, key: "path" },
    );
  }
  const file = join(folder, ...path.split("/"));
  // A name that no path can have, and outside the folder that may have to be made, so that a failure leaves no folder.
  const temporary = temporaryName(join(folder, basename(path)));
  try {
    refuseClash(folder, path);
    await makeFolder(folder, 0o700);
    const bytes = await writeWhole(file, body, {
      temporary,
      mode: 0o600,
      admit: () => {
        admit();
        if (!isThere(temporary))
          throw new ApiError(409, `${path}: its folder was deleted during the upload: send it again`);
        refuseClash(folder, path);
        const made = onFileSync(file, "write", () =>
          mkdirSync(dirname(file), { recursive: true, mode: 0o700 }),
        );
        if (made !== undefined) onFileSync(file, "write", () => syncFolderSync(folder));
      },
    });
    return { path: file, bytes };
  } catch (error) {
    throw error instanceof InputError ? new ApiError(503, error.message) : error;
  }
}

/** @throws ApiError 409 where `path` needs a folder and a file has its name, or the other way round */
function refuseClash(folder: string, path: string): void {
  const [first, second] = path.split("/");
  const name = join(folder, first!);
  const found = onFileSync(name, "write", () => statSync(name, { throwIfNoEntry: false }));
  if (found === undefined || found.isDirectory() === (second !== undefined)) return;
  const is = found.isDirectory() ? "a folder" : "a file";
  throw new ApiError(409, `${path}: ${first} was sent as ${is} before`);
}
