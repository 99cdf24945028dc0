/**
 * Halves of surrogate pairs in an address. JSON can hold them in a name, UTF-8 cannot, and an address is UTF-8: each
 * becomes U+FDD0, which stands for no character, and its four digits.
 */

const MARK = "\ufdd0";

/** Well-formed text that stands for any text; one without halves and without U+FDD0 stands for itself. */
export function withoutHalves(text: string): string {
  return text.replace(
    /\p{Surrogate}|\ufdd0/gu,
    (each) => MARK + each.charCodeAt(0).toString(16).padStart(4, "0"),
  );
}

/** The text that a well-formed one stands for. */
export function withHalves(text: string): string {
  return text.replace(/\ufdd0([0-9a-f]{4})/g, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 16)),
  );
}
