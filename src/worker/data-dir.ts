import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";

/** Where jobs are kept unless something else is said: `$XDG_DATA_HOME/gcopd`. */
export function defaultDataDir(env: NodeJS.ProcessEnv = process.env): string {
  const base = env.XDG_DATA_HOME;
  // The XDG specification says to ignore relative paths.
  return join(base && isAbsolute(base) ? base : join(homedir(), ".local", "share"), "gcopd");
}
