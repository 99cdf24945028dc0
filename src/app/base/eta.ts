/** How long is left, as a range: a pass costs between linear and quadratic in its length. */

/** Seconds, from … to. */
export interface Range {
  low: number;
  high: number;
}

/**
 * @param lengths tokens of each sequence, in the order in which they are worked on
 * @param done how many of them are finished
 * @param seconds since the first one began
 * @returns null while nothing is finished: any number would be a guess
 */
export function remaining(lengths: readonly number[], done: number, seconds: number): Range | null {
  if (done <= 0 || seconds <= 0) return null;
  const estimate = (cost: (tokens: number) => number): number => {
    const sum = (part: readonly number[]): number => part.reduce((total, n) => total + cost(n), 0);
    return (seconds * sum(lengths.slice(done))) / sum(lengths.slice(0, done));
  };
  const a = estimate((tokens) => tokens);
  const b = estimate((tokens) => tokens * tokens);
  return { low: Math.min(a, b), high: Math.max(a, b) };
}

/**
 * The same for episodes that are played side by side: high by those that have ended, low with what those that run now
 * have played.
 *
 * @param ended episodes that have ended in these seconds
 * @param share episodes' worth of what the running ones have played
 * @param left episodes that have not ended
 */
export function episodesRemaining(ended: number, share: number, left: number, seconds: number): Range | null {
  if (ended <= 0 || seconds <= 0) return null;
  const low = (seconds / (ended + share)) * Math.max(0, left - share);
  return { low, high: (seconds / ended) * left };
}

/** "about 20 s", "40 s to 2 min": never more exact than it is known. */
export function formatRange({ low, high }: Range): string {
  if (high === Number.POSITIVE_INFINITY) return `at least ${formatSeconds(low)}`;
  const [a, b] = [formatSeconds(low), formatSeconds(high)];
  return a === b ? `about ${a}` : `${a} to ${b}`;
}

export function formatSeconds(seconds: number): string {
  if (seconds < 9.5) return `${Math.max(1, Math.round(seconds))} s`;
  if (seconds < 90) return `${Math.round(seconds / 10) * 10} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  return `${Math.round(seconds / 3600)} h`;
}
