import { listenForInterrupts } from "../engine/interrupt.ts";
import { atMostEvery } from "../engine/json-lines.ts";
import { progress } from "../io.ts";
import type { PlayRunOptions } from "./play-run.ts";

/** Runs work that tells how far it is, and that a first signal ends: what was played stays for the next start. */
export async function playing(
  what: string,
  work: (watching: Pick<PlayRunOptions, "onNote" | "onProgress" | "signal">) => Promise<void>,
): Promise<void> {
  const interrupt = listenForInterrupts();
  try {
    await work({
      onNote: progress,
      onProgress: atMostEvery(5_000, ({ done, total }) => progress(`  ${done} of ${total} ${what}`)),
      signal: interrupt.first,
    });
  } catch (error) {
    if (interrupt.exitCode === null) throw error;
    progress("gcopd: interrupted; the same command goes on with what was played");
    process.exitCode = interrupt.exitCode;
  } finally {
    interrupt.release();
  }
}
