/** The worker's token from a file: an argument of a command can be read by every user of the machine. */
import { stat } from "node:fs/promises";
import { InputError } from "../core/errors.ts";
import { onFile } from "../node/file-error.ts";
import { readText } from "./io.ts";

/** The file's one line. `InputError` when others than its owner may read or write the file; Windows does not say. */
export async function readTokenFile(path: string): Promise<string> {
  const { mode } = await onFile(path, "read", stat(path));
  if (process.platform !== "win32" && (mode & 0o077) !== 0)
    throw new InputError(
      `others may read or write it (mode 0${(mode & 0o777).toString(8)}); expected mode 0600: chmod 600 FILE`,
      { file: path, key: "--token-file" },
    );
  return (await readText(path)).trim();
}
