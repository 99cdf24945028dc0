/** What a student went through on this page, saved beside its weights: a line for each run. */
import type { FolderFiles } from "../../../data/files/blob-folder.ts";

/** Name of the file in a saved model folder. */
export const RUNS_FILE = "gcopd-runs.jsonl";

/** A trained folder with the runs of the folder that it was trained from, and one more. */
export function withRun(trained: FolderFiles, before: FolderFiles | undefined, run: object): FolderFiles {
  const earlier = before?.files.get(RUNS_FILE);
  // In a folder on the worker's disk, only the weights are not blobs.
  if (earlier !== undefined && !(earlier instanceof Blob)) throw new Error(`${RUNS_FILE} was not read`);
  const files = new Map(trained.files);
  files.set(RUNS_FILE, new Blob([...(earlier === undefined ? [] : [earlier]), `${JSON.stringify(run)}\n`]));
  return { name: trained.name, files };
}
