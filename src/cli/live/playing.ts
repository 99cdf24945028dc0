import { listenForInterrupts } from "../engine/interrupt.ts";
import { atMostEvery } from "../engine/json-lines.ts";
import { progress } from "../io.ts";
import type { PlayRunOptions } from "./play-run.ts";

/** Runs work that reports progress and ends at the first signal; what was played is kept for the next start. */
export async function playing(
  what: string,
  work: (watching: Pick<PlayRunOptions, "onNote" | "onProgress" | "signal">) => Promise<void>,
): Promise<void> {
  const interrupt = listenForInterrupts();
  try {
    await work({
      onNote: progress,
      onProgress: told(what),
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

/** Progress with the time that is left, as the episodes since the model was there took it. */
function told(what: string): PlayRunOptions["onProgress"] {
  let first: { done: number; at: number } | null = null;
  return atMostEvery(5_000, ({ done, total, atOnce }) => {
    const now = performance.now();
    first ??= { done, at: now };
    const left = timeLeft(now - first.at, { ended: done - first.done, left: total - done, atOnce });
    progress(`  ${done} of ${total} ${what}${left === null ? "" : `, ${left} left`}`);
  });
}

/**
 * The time that is left; null until as many episodes as play side by side have ended. The first of them takes the time
 * in which the others were nearly played, too.
 *
 * @param milliseconds in which `ended` episodes ended
 */
export function timeLeft(
  milliseconds: number,
  { ended, left, atOnce }: { ended: number; left: number; atOnce: number },
): string | null {
  return ended < atOnce || left === 0 ? null : roughly((milliseconds / ended) * left);
}

function roughly(milliseconds: number): string {
  const minutes = milliseconds / 60_000;
  if (minutes < 1) return "less than a minute";
  return minutes < 90 ? `about ${Math.round(minutes)} min` : `about ${(minutes / 60).toFixed(1)} h`;
}
