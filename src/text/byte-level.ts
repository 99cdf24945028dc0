/** The byte alphabet of byte-level BPE (GPT-2's, which Qwen uses), and UTF-8 as its decoder reads it. */

/** Character of the token alphabet → byte: printable Latin-1 stands for itself, the rest from U+0100 upwards. */
const BYTE_OF = new Map<string, number>();
{
  let next = 0x100;
  for (let byte = 0; byte < 0x100; byte++) {
    const printable =
      (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xac) || (byte >= 0xae && byte <= 0xff);
    BYTE_OF.set(String.fromCharCode(printable ? byte : next++), byte);
  }
}

const encoder = new TextEncoder();

/** Bytes that a vocabulary string stands for. A string with characters outside the alphabet stands for its own UTF-8. */
export function tokenBytes(token: string): Uint8Array {
  const bytes = new Uint8Array(token.length);
  for (let i = 0; i < token.length; i++) {
    const byte = BYTE_OF.get(token[i]!);
    if (byte === undefined) return encoder.encode(token);
    bytes[i] = byte;
  }
  return bytes;
}

/** One character of a byte string, or the longest run that is a broken one. */
export interface Utf8Segment {
  /** Byte offsets, [start, end). */
  start: number;
  end: number;
  /** Null where the bytes are not a character. */
  codePoint: number | null;
}

/**
 * Splits bytes into characters. Malformed bytes are grouped as Unicode recommends (maximal subparts), which is how
 * `TextDecoder` and the tokenizers' own decoder count replacement characters.
 */
export function* scanUtf8(bytes: Uint8Array): Generator<Utf8Segment> {
  let at = 0;
  while (at < bytes.length) {
    const start = at;
    const lead = bytes[at++]!;
    if (lead < 0x80) {
      yield { start, end: at, codePoint: lead };
      continue;
    }
    const more =
      lead >= 0xc2 && lead <= 0xdf ? 1 : lead >> 4 === 0xe ? 2 : lead >= 0xf0 && lead <= 0xf4 ? 3 : 0;
    // The second byte's range rules out overlong forms, surrogates and what lies beyond U+10FFFF.
    let low = lead === 0xe0 ? 0xa0 : lead === 0xf0 ? 0x90 : 0x80;
    let high = lead === 0xed ? 0x9f : lead === 0xf4 ? 0x8f : 0xbf;
    let codePoint = more === 1 ? lead & 0x1f : more === 2 ? lead & 0x0f : lead & 0x07;
    let left = more;
    while (left > 0 && at < bytes.length && bytes[at]! >= low && bytes[at]! <= high) {
      codePoint = (codePoint << 6) | (bytes[at++]! & 0x3f);
      low = 0x80;
      high = 0xbf;
      left--;
    }
    yield { start, end: at, codePoint: more > 0 && left === 0 ? codePoint : null };
  }
}

/** Bytes for a person: whole characters as they are, others as `<0xE2>`. */
export function showBytes(bytes: Uint8Array): { text: string; partial: boolean } {
  let text = "";
  let partial = false;
  for (const { start, end, codePoint } of scanUtf8(bytes)) {
    if (codePoint !== null) text += String.fromCodePoint(codePoint);
    else {
      partial = true;
      for (const byte of bytes.subarray(start, end)) {
        text += `<0x${byte.toString(16).toUpperCase().padStart(2, "0")}>`;
      }
    }
  }
  return { text, partial };
}
