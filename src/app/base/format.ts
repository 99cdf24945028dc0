/** Figures as the page prints them. */

/**
 * A printed number with true minus signs, in its exponent too, as every number of the page has them. What is typed and
 * what goes to other programs keeps hyphens.
 */
export const trueMinus = (text: string): string => text.replaceAll("-", "−");

/** A probability from its natural logarithm: three figures, small ones with an exponent. */
export function probability(logprob: number): string {
  const p = Math.exp(logprob);
  return p >= 0.001 || p === 0 ? p.toFixed(3) : trueMinus(p.toExponential(1));
}

/** Nats, with a sign when it is a difference. A true minus sign, so that columns align. */
export function nats(value: number, signed = false, digits = 3): string {
  const text = Math.abs(value).toFixed(digits);
  if (Number(text) === 0) return text;
  return `${value < 0 ? "−" : signed ? "+" : ""}${text}`;
}

/** A probability from its natural logarithm as the paper's case study prints it: `97.69%`, small ones `4.0e−3%`. */
export function percent(logprob: number): string {
  const value = 100 * Math.exp(logprob);
  return `${value >= 0.01 || value === 0 ? value.toFixed(2) : trueMinus(value.toExponential(1))}%`;
}

const SCALES = [
  [1e12, "trillion"],
  [1e9, "billion"],
  [1e6, "million"],
] as const;

/** e^|Δ| in words that follow "it is": `1.9 million times less likely`, `3.4 times more likely`. */
export function timesAsLikely(delta: number): string {
  const factor = Math.exp(Math.abs(delta));
  // What rounds to 1.0 says nothing.
  if (factor < 1.05) return "about as likely";
  const than = delta < 0 ? "less likely" : "more likely";
  if (factor >= 1e15) return `more than 1,000 trillion times ${than}`;
  for (const [scale, name] of SCALES)
    if (factor >= 0.9995 * scale) return `${figures(factor / scale)} ${name} times ${than}`;
  return `${figures(factor)} times ${than}`;
}

/** Two figures, and all of a whole number. */
const figures = (value: number): string =>
  value >= 9.95 ? Math.round(value).toLocaleString("en") : value.toFixed(1);

export { shortToken, visibleToken } from "./token-symbols.ts";
