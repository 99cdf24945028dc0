/**
 * Text of records as the page shows it. What would be invisible, or would turn the text around it, gets a shape of its
 * own; nothing else changes, and nothing is left out. Copies and exports keep the text as it is.
 */

/**
 * Control characters but tab and line feed, bidi controls, what has no width (joiners excepted: letters and emoji are
 * spelled with them), tags that are not of a flag, and halves of surrogate pairs.
 */
const SHAPELESS =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  /[\0-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028\u2029\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\u{e0001}-\u{e007f}](?<!\u{1f3f4}[\u{e0020}-\u{e007f}]{1,7})|\p{Surrogate}/gu;

/** Names of the characters that Unicode's standard annex 9 and its charts have a short one for. */
const NAMES: Readonly<Record<number, string>> = {
  173: "SHY",
  1564: "ALM",
  8203: "ZWSP",
  8288: "WJ",
  8206: "LRM",
  8207: "RLM",
  8232: "LS",
  8233: "PS",
  8234: "LRE",
  8235: "RLE",
  8236: "PDF",
  8237: "LRO",
  8238: "RLO",
  8294: "LRI",
  8295: "RLI",
  8296: "FSI",
  8297: "PDI",
  65279: "BOM",
};

function shape(character: string): string {
  const code = character.codePointAt(0)!;
  // Unicode's control pictures: ␀ … ␟ and ␡.
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  if (code === 0x7f) return "␡";
  const name = NAMES[code];
  if (name !== undefined) return `⟦${name}⟧`;
  return `⟦U+${code.toString(16).toUpperCase().padStart(4, "0")}⟧`;
}

/** The text with a shape for every shapeless character. A carriage return before a line feed is part of the line's end. */
export function shownText(text: string): string {
  return text.replace(/\r\n/g, "\n").replace(SHAPELESS, shape);
}

/** The first characters of a text, in UTF-16 units; no pair of surrogates and no line end is cut in two. */
export function beginning(text: string, most: number): string {
  if (text.length <= most) return text;
  const last = text.charCodeAt(most - 1);
  const inPair = (last >= 0xd800 && last <= 0xdbff) || (last === 0x0d && text.charCodeAt(most) === 0x0a);
  return text.slice(0, inPair ? most - 1 : most);
}

/** At most so many characters of a text, with … at the end where there are more. */
export const shortened = (text: string, most: number): string =>
  text.length <= most ? text : `${beginning(text, Math.max(0, most - 1))}…`;

/** A name in a line of the page: its beginning where it is very long, and then how long it is. */
export function shownName(name: string, most = 200): string {
  const text = shownText(beginning(name, most)).replace(/[\t\n]/g, (each) => (each === "\t" ? "␉" : "␊"));
  return name.length <= most ? text : `${text}… (${name.length.toLocaleString("en")} characters)`;
}
