import { uniforms } from "../src/core/seeded.ts";

/** `count` values spread evenly over [-spread, spread), the same on every machine. */
export function randomValues(count: number, seed: number, spread = 1): Float32Array {
  const next = uniforms(seed);
  return Float32Array.from({ length: count }, () => (2 * next() - 1) * spread);
}
