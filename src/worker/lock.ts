/** At most one worker on a data folder. The system gives the lock back however the worker ends, `kill -9` too. */
import Database from "libsql";
import { InputError } from "../core/errors.ts";

/** @throws InputError when another worker holds the folder. Returns the way to give it back. */
export function lockFolder(file: string, folder: string): () => void {
  const db = new Database(file);
  try {
    db.exec("BEGIN EXCLUSIVE");
  } catch (error) {
    db.close();
    if ((error as { code?: string }).code !== "SQLITE_BUSY") throw error;
    throw new InputError("another worker uses this data folder: stop it or choose another folder", {
      file: folder,
      key: "--data",
    });
  }
  return () => {
    // The connection may live on until it is collected; its lock must not.
    db.exec("ROLLBACK");
    db.close();
  };
}
