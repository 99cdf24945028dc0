import type { WorkOptions } from "../../core/ports.ts";

export interface Bounds<T> {
  /** Most pieces of work that are under way at the same time. */
  atOnce: number;
  /** Most tokens of them together; one that has more goes alone. */
  tokensAtOnce: number;
  tokensOf: (item: T) => number;
  /** What is counted in progress. */
  unit: string;
}

/**
 * Does the work of all items in their order, many at the same time. After the first fault the rest is given up, and it is
 * thrown once none is under way.
 */
export async function inParallel<T, R>(
  items: readonly T[],
  work: (item: T, signal: AbortSignal) => Promise<R>,
  { atOnce, tokensAtOnce, tokensOf, unit }: Bounds<T>,
  { signal, onProgress }: Pick<WorkOptions, "signal" | "onProgress"> = {},
): Promise<R[]> {
  const fault = new AbortController();
  const stop = signal === undefined ? fault.signal : AbortSignal.any([signal, fault.signal]);
  const results: R[] = [];
  const running = new Set<Promise<void>>();
  let [tokens, done] = [0, 0];
  const start = (item: T, n: number): Promise<void> =>
    work(item, stop)
      .then((result) => {
        results[n] = result;
        done += 1;
        onProgress?.({ done, total: items.length, unit });
      })
      .catch((error: unknown) => fault.abort(error));
  for (const [n, item] of items.entries()) {
    const cost = tokensOf(item);
    while (running.size >= atOnce || (running.size > 0 && tokens + cost > tokensAtOnce))
      await Promise.race(running);
    if (stop.aborted) break;
    tokens += cost;
    const started = start(item, n).then(() => {
      tokens -= cost;
      running.delete(started);
    });
    running.add(started);
  }
  await Promise.all(running);
  signal?.throwIfAborted();
  fault.signal.throwIfAborted();
  return results;
}
