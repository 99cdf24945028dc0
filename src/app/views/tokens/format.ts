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

/** A token's text with its white space made visible. */
export function visibleToken(text: string): string {
  if (text === "") return "∅";
  return text.replaceAll(" ", "␣").replaceAll("\n", "↵").replaceAll("\t", "⇥");
}
