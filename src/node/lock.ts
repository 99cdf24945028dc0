/** At most one process on a folder. The system gives the lock back however the worker ends, `kill -9` too. */
import { setTimeout as sleep } from "node:timers/promises";
import Database from "libsql";
import { InputError } from "../core/errors.ts";

/**
 * Returns the way to give the lock back.
 *
 * @throws `busy` when another process holds the lock file, another InputError when there can be no lock file here
 */
export function lockFolder(file: string, busy: InputError): () => void {
  let db: Database.Database | undefined;
  try {
    db = new Database(file);
    db.exec("BEGIN EXCLUSIVE");
  } catch (error) {
    db?.close();
    if ((error as { code?: string }).code === "SQLITE_BUSY") throw busy;
    const reason = error instanceof Error ? error.message : String(error);
    throw new InputError(`cannot be used to keep other processes out: ${reason}`, { file });
  }
  const held = db;
  return () => {
    // The connection may live on until it is collected; its lock must not.
    held.exec("ROLLBACK");
    held.close();
  };
}

/** Milliseconds between two tries. */
const AGAIN_MS = 250;

/**
 * `lockFolder` as soon as no other process holds the lock file.
 *
 * @param onWait called once where one does
 * @throws InputError when there can be no lock file here; the signal's reason
 */
export async function lockWhenFree(
  file: string,
  { signal, onWait }: { signal?: AbortSignal | undefined; onWait?: (() => void) | undefined } = {},
): Promise<() => void> {
  const busy = new InputError("another process holds it", { file });
  for (let tries = 0; ; tries += 1) {
    signal?.throwIfAborted();
    try {
      return lockFolder(file, busy);
    } catch (error) {
      if (error !== busy) throw error;
    }
    if (tries === 0) onWait?.();
    await sleep(AGAIN_MS);
  }
}
