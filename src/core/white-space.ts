/** Unicode white space and the ASCII separators U+001C–U+001F. U+FEFF is not among them (ECMAScript's `\s` has it). */
const WHITE_SPACE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the separators belong to the definition
  /[\t-\r\u001c-\u0020\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+/gu;

/** `text` with each run of white space made one space and none at the ends: the paper's "whitespace normalization". */
export function foldWhiteSpace(text: string): string {
  const folded = text.replace(WHITE_SPACE, " ");
  return folded.slice(
    folded.startsWith(" ") ? 1 : 0,
    folded.length > 1 && folded.endsWith(" ") ? -1 : undefined,
  );
}
