/** Figures as the token views print them. */

/** A probability from its natural logarithm: three figures, small ones with an exponent. */
export function probability(logprob: number): string {
  const p = Math.exp(logprob);
  return p >= 0.001 || p === 0 ? p.toFixed(3) : p.toExponential(1);
}

/** Nats, with a sign when it is a difference. A true minus sign, so that columns align. */
export function nats(value: number, signed = false): string {
  const text = Math.abs(value).toFixed(3);
  if (Number(text) === 0) return "0.000";
  return `${value < 0 ? "−" : signed ? "+" : ""}${text}`;
}

/** A probability from its natural logarithm as the paper's case study prints it: `97.69%`, small ones `4.0e-3%`. */
export function percent(logprob: number): string {
  const value = 100 * Math.exp(logprob);
  return `${value >= 0.01 || value === 0 ? value.toFixed(2) : value.toExponential(1)}%`;
}

export { shortToken, visibleToken } from "./token-symbols.ts";
