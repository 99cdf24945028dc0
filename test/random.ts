/** Uniform numbers in [0, 1) from a seed (mulberry32): the same on every machine. */
export function uniformNumbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let x = state;
    x = Math.imul(x ^ (x >>> 15), x | 1);
    x ^= x + Math.imul(x ^ (x >>> 7), x | 61);
    return ((x ^ (x >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** `count` values spread evenly over [-spread, spread). */
export function randomValues(count: number, seed: number, spread = 1): Float32Array {
  const next = uniformNumbers(seed);
  return Float32Array.from({ length: count }, () => (2 * next() - 1) * spread);
}
