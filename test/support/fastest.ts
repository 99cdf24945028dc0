/** Milliseconds of the quickest of several rounds of a work: what else the machine does makes a round longer, never shorter. */
export function fastest(work: () => void, rounds = 5): number {
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round < rounds; round++) {
    const began = performance.now();
    work();
    least = Math.min(least, performance.now() - began);
  }
  return least;
}
