const ESCAPES = /(?:%[0-9a-fA-F]{2})+/g;

/**
 * Percent escapes as UTF-8. A `%` without two hexadecimal digits, and a `+`, stand for themselves, as in the path of an
 * address. Throws `SyntaxError` where the bytes are not UTF-8.
 */
export function percentDecode(text: string): string {
  return text.replace(ESCAPES, (escapes) => {
    const bytes = Uint8Array.from(escapes.matchAll(/[0-9a-fA-F]{2}/g), ([digits]) =>
      Number.parseInt(digits, 16),
    );
    try {
      return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    } catch {
      throw new SyntaxError(`${escapes} is not UTF-8`);
    }
  });
}
