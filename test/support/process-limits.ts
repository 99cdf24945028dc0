/** Limits of the system on this process, which native code meets too: SQLite's own writes and openings. Linux alone. */
import { spawnSync } from "node:child_process";
import { closeSync, openSync, readdirSync } from "node:fs";

/** Nothing is written at or beyond so many bytes of any file: a write that crosses them is short, the next one fails. */
export const limitFileSize = (bytes: number): void => limit("fsize", bytes);

/** Does `work` while this process can open so many more files at a time. */
export function withFreeDescriptors<R>(free: number, work: () => R): R {
  limit("nofile", Math.max(...descriptors()) + 32);
  const taken: number[] = [];
  try {
    for (;;) taken.push(openSync("/dev/null", "r"));
  } catch {
    for (const each of taken.splice(taken.length - free)) closeSync(each);
  }
  try {
    return work();
  } finally {
    for (const each of taken) closeSync(each);
    liftLimits();
  }
}

/** Those that are open, and the one that they are listed with. */
export const descriptors = (): number[] => readdirSync("/proc/self/fd").map(Number);

export function liftLimits(): void {
  for (const [of, hard] of Object.entries(HARD)) limit(of, hard);
}

const HARD = { fsize: hardLimit("fsize"), nofile: hardLimit("nofile") };

/** The soft limit alone: it can be lifted again. */
function limit(of: string, to: number | string): void {
  const { status, stderr } = spawnSync("prlimit", ["--pid", String(process.pid), `--${of}=${to}:`]);
  if (status !== 0) throw new Error(`prlimit: ${String(stderr)}`);
}

function hardLimit(of: string): string {
  const options = ["--pid", String(process.pid), `--${of}`, "--noheadings", "--output", "HARD"];
  return String(spawnSync("prlimit", options).stdout ?? "").trim();
}
