/** Student's t distribution: intervals and tests for the mean of few values. */

/** ln Γ(x) for x > 0 (Lanczos, g = 7, n = 9). */
function logGamma(x: number): number {
  const coefficients = [
    0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059,
    12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7,
  ];
  const base = x + 6.5;
  const sum = coefficients.reduce((all, c, n) => (n === 0 ? c : all + c / (x - 1 + n)), 0);
  return 0.5 * Math.log(2 * Math.PI) + (x - 0.5) * Math.log(base) - base + Math.log(sum);
}

/** Regularized incomplete beta function I_x(a, b), by its continued fraction (Lentz). */
function incompleteBeta(x: number, a: number, b: number): number {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  if (x > (a + 1) / (a + b + 2)) return 1 - incompleteBeta(1 - x, b, a);
  const tiny = 1e-300;
  const kept = (value: number): number => (Math.abs(value) < tiny ? tiny : value);
  let c = 1;
  let d = 1 / kept(1 - ((a + b) * x) / (a + 1));
  let fraction = d;
  for (let m = 1; m <= 500; m += 1) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    for (const term of [even, odd]) {
      d = 1 / kept(1 + term * d);
      c = kept(1 + term / c);
      fraction *= c * d;
    }
    if (Math.abs(c * d - 1) < 1e-15) break;
  }
  const logFront = logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log(1 - x);
  return (Math.exp(logFront) * fraction) / a;
}

/** P(|T| ≥ |t|) with `freedom` degrees of freedom. */
export function twoSidedP(t: number, freedom: number): number {
  if (!Number.isFinite(t)) return 0;
  return incompleteBeta(freedom / (freedom + t * t), freedom / 2, 0.5);
}

/** The t that |T| exceeds with probability `p` in (0, 1): 12.706 for 0.05 and one degree of freedom. */
export function twoSidedT(p: number, freedom: number): number {
  let [low, high] = [0, 1];
  while (twoSidedP(high, freedom) > p) high *= 2;
  for (let n = 0; n < 200 && high - low > 1e-12 * high; n += 1) {
    const middle = (low + high) / 2;
    if (twoSidedP(middle, freedom) > p) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}
