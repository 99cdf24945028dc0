/** Opening the list of jobs, whatever became of its file since. */
import { renameSync } from "node:fs";
import { InputError } from "../../core/errors.ts";
import { isThere, onFileSync } from "../../node/file-error.ts";
import { tell } from "../tell.ts";
import { JobStore } from "./store.ts";
import { StoreFault } from "./store-fault.ts";

const DAMAGE: readonly string[] = ["SQLITE_CORRUPT", "SQLITE_NOTADB"];

/**
 * Opens the list of jobs. A damaged file is moved aside under a name that says so, never deleted, and a new list begun:
 * the queue fills it from the jobs' folders.
 *
 * @throws InputError, one line that names the file, where it cannot be used
 */
export function openStore(file: string): JobStore {
  try {
    return new JobStore(file);
  } catch (error) {
    if (!(error instanceof StoreFault)) throw error;
    if (!DAMAGE.includes(error.code)) throw inputError(error, file);
    const aside = `${file}.damaged-${new Date().toISOString().replaceAll(":", "-")}`;
    // The journals belong to the file: they go first, so that none is ever applied to a new one.
    for (const part of ["-journal", "-wal", "-shm", ""])
      if (isThere(`${file}${part}`))
        onFileSync(file, "write", () => renameSync(`${file}${part}`, `${aside}${part}`));
    tell(
      `${file}: damaged (${error.detail}): it is kept as ${aside}, and the jobs are found again in their folders`,
    );
  }
  try {
    return new JobStore(file);
  } catch (error) {
    throw error instanceof StoreFault ? inputError(error, file) : error;
  }
}

function inputError({ reason, detail }: StoreFault, file: string): InputError {
  return new InputError(`the list of jobs cannot be used: ${reason} (${detail})`, { file });
}
