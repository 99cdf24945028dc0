/** The worker's token in a file: an argument of a command can be read by every user of the machine. */
import { open } from "node:fs/promises";
import { join } from "node:path";
import { InputError } from "../core/errors.ts";
import { isThere, onFile } from "../node/file-error.ts";
import { writeWholeSync } from "../node/whole-file.ts";
import { checkToken, randomToken } from "./http/security.ts";

/** Name of the token's file in a data folder. */
export const TOKEN_FILE = "token";

/**
 * The token in a file.
 *
 * @param key the option that named the file
 * @throws InputError when the file is another user's, or users other than its owner may read or write it (Windows does not say), and for what is not a token
 */
export async function readTokenFile(path: string, key?: string): Promise<string> {
  const where = { file: path, key };
  // Opened once: what is checked is what is read, also when the name changes hands meanwhile.
  const handle = await onFile(path, "read", open(path));
  try {
    const { mode, uid } = await onFile(path, "read", handle.stat());
    const user = process.getuid?.();
    if (user !== undefined && uid !== user)
      throw new InputError(
        `it is of user ${uid}; expected a file of user ${user}, who starts the worker`,
        where,
      );
    if (process.platform !== "win32" && (mode & 0o077) !== 0)
      throw new InputError(
        `others may read or write it (mode 0${(mode & 0o777).toString(8)}); expected mode 0600: chmod 600 ${path}`,
        where,
      );
    return checkToken((await onFile(path, "read", handle.readFile("utf8"))).trim(), where);
  } finally {
    await onFile(path, "read", handle.close());
  }
}

/** The token that a data folder keeps, from one start of the worker to the next. Made when there is none. */
export async function folderToken(folder: string): Promise<string> {
  const file = join(folder, TOKEN_FILE);
  if (!isThere(file)) writeWholeSync(file, `${randomToken()}\n`, { mode: 0o600 });
  return readTokenFile(file);
}
