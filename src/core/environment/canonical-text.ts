/** Text as locators hash it: one order and one spelling, on every machine. */

/** Orders strings by code point (JavaScript's `<` orders by UTF-16 unit, which differs beyond U+FFFF). */
export function compareCodePoints(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x === y) continue;
    const xSurrogate = x >= 0xd800 && x <= 0xdfff;
    const ySurrogate = y >= 0xd800 && y <= 0xdfff;
    if (xSurrogate === ySurrogate) return x - y;
    // Of a surrogate and another unit, the surrogate belongs to a code point beyond U+FFFF, unless it stands alone.
    return a.codePointAt(i)! - b.codePointAt(i)!;
  }
  return a.length - b.length;
}

const SHORT_ESCAPES: Readonly<Record<string, string>> = {
  '"': '\\"',
  "\\": "\\\\",
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
  "\b": "\\b",
  "\f": "\\f",
};

/** A JSON string of pure ASCII: every other character as `\uXXXX`, in UTF-16 units. */
export function asciiString(text: string): string {
  return `"${text.replace(
    /["\\]|[^ -~]/g,
    (unit) => SHORT_ESCAPES[unit] ?? `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  )}"`;
}
