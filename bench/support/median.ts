/** Middle of the sorted values. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const half = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[half]! : (sorted[half - 1]! + sorted[half]!) / 2;
}

/** Median seconds of `times` runs after one to warm up. */
export async function medianSeconds(times: number, work: () => Promise<unknown>): Promise<number> {
  await work();
  const seconds: number[] = [];
  for (let i = 0; i < times; i++) {
    const start = performance.now();
    await work();
    seconds.push((performance.now() - start) / 1000);
  }
  return median(seconds);
}
