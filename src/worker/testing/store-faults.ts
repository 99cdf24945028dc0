/** Faults of SQLite, injected into the statements of the list of jobs one at a time. */
import Database from "libsql";

type Method = (this: object, ...args: unknown[]) => unknown;

/** As SQLite reports a full disk, a foreign lock, a device that fails, and too many open files. */
export const STORE_FAULTS = ["SQLITE_FULL", "SQLITE_BUSY", "SQLITE_IOERR_WRITE", "SQLITE_CANTOPEN"] as const;
export type StoreFaultCode = (typeof STORE_FAULTS)[number] | "SQLITE_READONLY";

/** After these SQLite itself ends the transaction. */
const ROLLS_BACK: readonly string[] = ["SQLITE_FULL", "SQLITE_IOERR_WRITE"];

export class StoreFaults {
  /** Every statement that was run since `arm`. */
  statements: string[] = [];
  /** The statement that failed, null when none did. */
  injected: string | null = null;
  /** Connections opened since `install`, the latest last. */
  readonly connections: Database.Database[] = [];
  #at = -1;
  #code: StoreFaultCode | null = null;
  readonly #restore: (() => void)[] = [];

  static install(): StoreFaults {
    const faults = new StoreFaults();
    const probe = new Database(":memory:");
    const statement = Object.getPrototypeOf(probe.prepare("SELECT 1")) as object;
    probe.close();
    const sources = new WeakMap<object, { db: Database.Database; sql: string }>();
    faults.#patch(Database.prototype, "prepare", (real) => {
      return function (...args) {
        const prepared = real.apply(this, args) as object;
        sources.set(prepared, { db: this as Database.Database, sql: String(args[0]) });
        return prepared;
      };
    });
    faults.#patch(Database.prototype, "exec", (real) => {
      return function (...args) {
        const db = this as Database.Database;
        if (!faults.connections.includes(db)) faults.connections.push(db);
        faults.#meet(db, String(args[0]), (sql) => real.call(db, sql));
        return real.apply(this, args);
      };
    });
    for (const name of ["run", "get", "all"])
      faults.#patch(statement, name, (real) => {
        return function (...args) {
          const source = sources.get(this);
          if (source !== undefined) faults.#meet(source.db, source.sql, (sql) => source.db.exec(sql));
          return real.apply(this, args);
        };
      });
    return faults;
  }

  restore(): void {
    for (const back of this.#restore) back();
  }

  /** Counts the statements from here on and lets the one with index `at` fail. */
  arm(at: number, code: StoreFaultCode): void {
    this.statements = [];
    this.injected = null;
    this.#at = at;
    this.#code = code;
  }

  disarm(): void {
    this.#code = null;
  }

  #patch(prototype: object, name: string, wrap: (real: Method) => Method): void {
    const table = prototype as Record<string, Method>;
    const real = table[name]!;
    table[name] = wrap(real);
    this.#restore.push(() => {
      table[name] = real;
    });
  }

  #meet(db: Database.Database, sql: string, exec: (sql: string) => unknown): void {
    const code = this.#code;
    if (code === null || this.statements.push(sql) - 1 !== this.#at) return;
    this.injected = sql;
    this.#code = null;
    if (ROLLS_BACK.includes(code) && db.inTransaction) exec("ROLLBACK");
    this.#code = code;
    throw Object.assign(new Error(`injected: ${code}`), { code });
  }
}
