/**
 * One character of Unicode white space or of the ASCII separators U+001C–U+001F, as a class of a regular expression.
 * U+FEFF is not among them (ECMAScript's `\\s` and `trim` have it, and lack U+001C–U+001F and U+0085).
 */
export const WHITE_SPACE_CLASS =
  "[\\t-\\r\\u001c-\\u0020\\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]";

const RUNS = new RegExp(`${WHITE_SPACE_CLASS}+`, "g");
const START = new RegExp(`^${WHITE_SPACE_CLASS}+`);
const WHITE = new RegExp(WHITE_SPACE_CLASS);

/** `text` with each run of white space made one space and none at the ends: the paper's "whitespace normalization". */
export function foldWhiteSpace(text: string): string {
  const folded = text.replace(RUNS, " ");
  return folded.slice(
    folded.startsWith(" ") ? 1 : 0,
    folded.length > 1 && folded.endsWith(" ") ? -1 : undefined,
  );
}

/** `text` without the white space at its ends. */
export function trimWhiteSpace(text: string): string {
  let end = text.length;
  while (end > 0 && WHITE.test(text[end - 1]!)) end--;
  return text.slice(0, end).replace(START, "");
}
