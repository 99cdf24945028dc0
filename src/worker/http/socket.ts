/** A unix socket to listen on: the file's permissions say who may connect. */
import { rmSync } from "node:fs";
import { lstat, stat } from "node:fs/promises";
import { connect, type Server } from "node:net";
import { dirname } from "node:path";
import { InputError } from "../../core/errors.ts";
import { isSystemError, onFile, onFileSync } from "../../node/file-error.ts";

/** Name of the socket in a data folder, where `gcopd connect` looks for it. */
export const SOCKET_FILE = "worker.sock";

/** Bytes of a path that every system takes (macOS: 104 with the zero byte at its end; Linux: 108). */
const LONGEST = 103;

/**
 * Listens on a socket that only this user can connect to (mode 0600). One that a dead worker left is replaced; closing the
 * server removes it.
 *
 * @param path absolute
 * @throws InputError for a path that is too long or not a socket, one that a program listens on, and a folder that other users may write into
 */
export async function listenOnSocket(server: Server, path: string): Promise<void> {
  const where = { file: path, key: "--socket" };
  if (process.platform === "win32") throw new InputError("there are no unix sockets on Windows", where);
  const bytes = Buffer.byteLength(path);
  if (bytes > LONGEST)
    throw new InputError(`expected a path of at most ${LONGEST} bytes, got ${bytes}`, where);
  const folder = dirname(path);
  const { mode, uid } = await onFile(folder, "write", stat(folder));
  if ((mode & 0o022) !== 0 || (uid !== 0 && uid !== process.getuid?.()))
    throw new InputError(
      "others may put a socket of theirs in its place: expected a folder that only you can write into",
      where,
    );
  await removeStale(path);
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error) => reject(new InputError(error.message, where)));
    // The socket is made within the call: nobody can connect before its mode is right.
    const before = process.umask(0o177);
    server.listen(path, resolve);
    process.umask(before);
  });
}

async function removeStale(path: string): Promise<void> {
  const where = { file: path, key: "--socket" };
  const found = await lstat(path).catch((error: unknown) => {
    if (isSystemError(error) && error.code === "ENOENT") return null;
    throw error;
  });
  if (found === null) return;
  if (!found.isSocket()) throw new InputError("already exists and is not a socket", where);
  if (await answers(path))
    throw new InputError("another worker listens on it: stop that one or choose another path", where);
  onFileSync(path, "write", () => rmSync(path));
}

/** Whether a program listens there. */
function answers(path: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const socket = connect(path, () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", (error) => {
      if (isSystemError(error) && error.code === "ECONNREFUSED") resolve(false);
      else reject(new InputError(error.message, { file: path, key: "--socket" }));
    });
  });
}
