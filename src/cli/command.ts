/** What a command is made of. Each lives in `commands/<name>.ts` and registers itself with commander. */
import type { Command } from "commander";

/** Refused arguments: exit code 2. (Bad input is `InputError`: exit code 1.) */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

export type Register = (program: Command) => void;
