import { countOf } from "../../core/plural.ts";
import { duration } from "../../worker/launch/run-words.ts";
import { howFar } from "../engine/how-far.ts";
import { listenForInterrupts } from "../engine/interrupt.ts";
import { progress } from "../io.ts";
import type { PlayRunOptions } from "./play-run.ts";

/** Runs work that reports progress and ends at the first signal; what was played is kept for the next start. */
export async function playing(
  what: string,
  work: (watching: Pick<PlayRunOptions, "onNote" | "onProgress" | "signal">) => Promise<void>,
): Promise<void> {
  const interrupt = listenForInterrupts();
  const told = new Told(what);
  // A round of responses may take minutes, and nothing is heard of it before its end.
  const ticking = setInterval(() => told.again(), 1_000);
  try {
    await work({
      onNote: progress,
      onProgress: (state) => told.tell(state),
      signal: interrupt.first,
    });
  } catch (error) {
    if (interrupt.exitCode === null) throw error;
    progress("gcopd: interrupted; the same command goes on with what was played");
    process.exitCode = interrupt.exitCode;
  } finally {
    clearInterval(ticking);
    interrupt.release();
  }
}

type State = Parameters<PlayRunOptions["onProgress"]>[0];

/** What is told of episodes as they are played, with the time that it took since the model was there. */
class Told {
  readonly #howFar = howFar((state: State) => this.#words(state));
  #first: { done: number; at: number } | null = null;
  #latest: State | null = null;

  constructor(private readonly what: string) {}

  tell(state: State): void {
    if (state.underWay > 0) this.#first ??= { done: state.done, at: performance.now() };
    this.#latest = state;
    this.again();
  }

  /** Tells the latest state once more, with the time that has passed. */
  again(): void {
    if (this.#latest !== null && this.#latest.done < this.#latest.total) this.#howFar(this.#latest);
  }

  #words({ done, total, underWay, decisions, most, atOnce }: State): string {
    const ended = `${done} of ${total} ${this.what}`;
    if (this.#first === null) return ended;
    const { done: before, at } = this.#first;
    const milliseconds = performance.now() - at;
    const left = timeLeft(milliseconds, { ended: done - before, left: total - done, atOnce });
    return (
      `${ended}, ${underWay} under way; ${decisions} of at most ${countOf(most, "decision")}` +
      ` in ${duration(Math.round(milliseconds / 1000))}${left === null ? "" : `, ${left} left`}`
    );
  }
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
