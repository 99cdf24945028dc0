/** How long a download will go on, as a range between its rate since the beginning and its rate just now. */
import type { Range } from "../../../base/eta.ts";

/** Seconds that count as just now. */
const WINDOW = 8;

export class TransferRate {
  readonly #seen: { done: number; at: number }[] = [];

  /**
   * @param done, total bytes
   * @param at seconds of any clock
   * @returns null for the first second: any number would be a guess
   */
  remaining(done: number, total: number, at: number): Range | null {
    this.#seen.push({ done, at });
    const first = this.#seen[0]!;
    // The first of all stays, and of the others those of the window.
    while (this.#seen.length > 2 && this.#seen[1]!.at < at - WINDOW) this.#seen.splice(1, 1);
    if (at - first.at < 1) return null;
    const estimates = [first, this.#seen[1]!]
      .filter((from) => at - from.at >= 1 && done > from.done)
      .map((from) => ((total - done) * (at - from.at)) / (done - from.done));
    if (estimates.length === 0) return null;
    return { low: Math.min(...estimates), high: Math.max(...estimates) };
  }
}
