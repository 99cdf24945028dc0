/** Percentile bootstrap: how far a figure would move with other tasks. */
import { seedOf, uniforms } from "./seeded.ts";

/** Ends of a 95 % interval. */
export type Interval = readonly [low: number, high: number];

/** Resamples of an interval. */
const RESAMPLES = 4_000;

/**
 * 95 % interval of Σ sums / Σ counts over clusters, such as tasks with all their decisions: clusters are drawn with
 * replacement, since what lies within one is not independent. The draw is the same each time, and another one for
 * another `seed`. `counts` are 1 when absent, which gives the mean of `sums`; a draw that counts nothing is left out.
 */
export function bootstrap(sums: readonly number[], counts?: readonly number[], seed?: number): Interval {
  const clusters = sums.length;
  const uniform = uniforms(seedOf(`bootstrap|${clusters}${seed === undefined ? "" : `|${seed}`}`));
  const ratios: number[] = [];
  for (let draw = 0; draw < RESAMPLES; draw++) {
    let sum = 0;
    let count = 0;
    for (let n = 0; n < clusters; n++) {
      const at = Math.floor(uniform() * clusters);
      sum += sums[at]!;
      count += counts === undefined ? 1 : counts[at]!;
    }
    if (count > 0) ratios.push(sum / count);
  }
  const sorted = Float64Array.from(ratios).sort();
  return [sorted[Math.floor(0.025 * sorted.length)]!, sorted[Math.ceil(0.975 * sorted.length) - 1]!];
}
