/** At most one process on a folder. The system gives the lock back however the worker ends, `kill -9` too. */
import Database from "libsql";
import type { InputError } from "../core/errors.ts";

/** @throws `busy` when another process holds the lock file. Returns the way to give it back. */
export function lockFolder(file: string, busy: InputError): () => void {
  const db = new Database(file);
  try {
    db.exec("BEGIN EXCLUSIVE");
  } catch (error) {
    db.close();
    if ((error as { code?: string }).code !== "SQLITE_BUSY") throw error;
    throw busy;
  }
  return () => {
    // The connection may live on until it is collected; its lock must not.
    db.exec("ROLLBACK");
    db.close();
  };
}
