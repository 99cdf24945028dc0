/** Limits of the system on this process, which native code meets too: SQLite's own writes and openings. Linux alone. */
import { spawnSync } from "node:child_process";

/** Nothing is written at or beyond so many bytes of any file: a write that crosses them is short, the next one fails. */
export const limitFileSize = (bytes: number): void => limit("fsize", bytes);

/** No file gets a descriptor of this number or above. */
export const limitOpenFiles = (files: number): void => limit("nofile", files);

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
