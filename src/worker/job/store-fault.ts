/** What SQLite reports about the file of jobs, as the worker tells it. */

/** The list of jobs could not be read or written. Nothing was changed; another try may do it. */
export class StoreFault extends Error {
  override readonly name = "StoreFault";
  constructor(
    file: string,
    readonly reason: string,
    /** SQLite's own name for it, without what it was doing. */
    readonly code: string,
    readonly detail: string = code,
  ) {
    super(`the list of jobs cannot be used: ${file}: ${reason} (${detail})`);
  }
}

export const DAMAGED =
  "damaged: the next start of the worker moves it aside and finds the jobs again in their folders";

const REASONS: Readonly<Record<string, string>> = {
  SQLITE_FULL: "no space left on the device",
  SQLITE_BUSY: "another program holds its lock",
  SQLITE_LOCKED: "another program holds its lock",
  SQLITE_PROTOCOL: "another program holds its lock",
  SQLITE_IOERR: "the device reports an error",
  SQLITE_CANTOPEN: "it, or a file beside it, cannot be opened",
  SQLITE_READONLY: "it may not be written: give this user access to it and to its folder",
  SQLITE_PERM: "it may not be used: give this user access to it and to its folder",
  SQLITE_AUTH: "it may not be used: give this user access to it and to its folder",
  SQLITE_NOMEM: "the system is short of memory",
  SQLITE_CORRUPT: DAMAGED,
  SQLITE_NOTADB: DAMAGED,
};

/** An error of SQLite as a `StoreFault`; null for what is not a fault of the file, but one of the program. */
export function storeFault(error: unknown, file: string): StoreFault | null {
  if (error instanceof StoreFault) return error;
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (typeof code !== "string") return null;
  // Extended codes name the operation behind it: SQLITE_IOERR_WRITE.
  const base = /^SQLITE_[A-Z]+/.exec(code)?.[0] ?? "";
  const reason = REASONS[base];
  return reason === undefined ? null : new StoreFault(file, reason, base, code);
}
