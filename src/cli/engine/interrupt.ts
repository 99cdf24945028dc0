/** SIGINT and SIGTERM as abort signals, so that work ends in order and nothing half-written stays behind. */
import { progress } from "../io.ts";
import type { KeptLines } from "./kept-lines.ts";

const CODES = { SIGINT: 130, SIGTERM: 143 } as const;
type Name = keyof typeof CODES;

export interface Interrupt {
  /** Aborted by the first signal. */
  readonly first: AbortSignal;
  /** Aborted by the second. */
  readonly second: AbortSignal;
  /** 128 + the number of the first signal: what a shell expects of a process that was ended by it. */
  readonly exitCode: number | null;
  /** Gives the signals back. */
  release(): void;
}

/**
 * Takes SIGINT and SIGTERM until `release`; neither ends the process by itself. A SIGINT after two signals exits at once, for
 * work that ignores both: a device that hangs, a server that does not answer. SIGTERM never does: its sender can follow up
 * with SIGKILL.
 */
export function listenForInterrupts(): Interrupt {
  const first = new AbortController();
  const second = new AbortController();
  let exitCode: number | null = null;
  const onSignal = (name: Name) => {
    if (name === "SIGINT" && second.signal.aborted) process.exit(exitCode ?? CODES.SIGINT);
    const aborted = first.signal.aborted ? second : first;
    exitCode ??= CODES[name];
    aborted.abort(new Error(`interrupted by ${name}`));
  };
  const names = Object.keys(CODES) as Name[];
  for (const name of names) process.on(name, onSignal);
  return {
    first: first.signal,
    second: second.signal,
    get exitCode() {
      return exitCode;
    },
    release() {
      for (const name of names) process.removeListener(name, onSignal);
    },
  };
}

/**
 * Runs work that the first signal aborts. When it was aborted, one line says so and the process will exit as one that
 * was ended by the signal; any other error goes on.
 *
 * @param kept the part of the output that the work keeps, if it keeps any
 */
export async function interruptible(
  work: (signal: AbortSignal) => Promise<void>,
  kept?: Pick<KeptLines, "left">,
): Promise<void> {
  const interrupt = listenForInterrupts();
  try {
    await work(interrupt.first);
  } catch (error) {
    if (interrupt.exitCode === null) throw error;
    progress(`gcopd: interrupted: ${kept?.left ?? "nothing was written"}`);
    process.exitCode = interrupt.exitCode;
  } finally {
    interrupt.release();
  }
}
