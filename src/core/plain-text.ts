/**
 * Text of records where it would be obeyed: a terminal moves, colours and hides by control characters, and turns what
 * stands around bidi controls. They are spelled as JSON spells them, so that JSON stays JSON.
 */

const LINE_FEED = "\n";
const TAB = "\t";

/** Control characters, and the bidi controls of Unicode's standard annex 9. */
const OBEYED = /[\p{Cc}\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu;

function spelled(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/** The text with control characters spelled out; line feeds and tabs, and a carriage return before a line feed, stay. */
export function plainText(text: string): string {
  return text.replace(OBEYED, (character, at: number) => {
    if (character === LINE_FEED || character === TAB) return character;
    return character === "\r" && text[at + 1] === LINE_FEED ? character : spelled(character);
  });
}

/** The same in one line: line feeds and tabs too are spelled out. */
export function plainLine(text: string): string {
  return text.replace(OBEYED, spelled);
}
