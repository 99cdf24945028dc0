/**
 * A token, or a name, as something that can be printed: what would be invisible, end a line or turn the text around
 * becomes a symbol of its own; each output spells the symbols in its own way.
 */

export type TokenSymbol =
  | { kind: "text"; text: string }
  | { kind: "space" | "newline" | "tab" | "empty" }
  /** A character without a shape: control, format and bidi characters, other spaces, half of a surrogate pair. */
  | { kind: "code"; code: number };

/** Characters that show nothing by themselves or change how others are shown. */
const SHAPELESS = /[\p{Cc}\p{Cf}\p{Cs}\p{Zs}\p{Zl}\p{Zp}]/u;

/** Joins emoji into one: kept where there is something before it to join. */
const JOINER = "\u200d";

/** In order, nothing left out; the empty text is one `empty`. */
export function tokenSymbols(text: string): TokenSymbol[] {
  if (text === "") return [{ kind: "empty" }];
  const symbols: TokenSymbol[] = [];
  for (const character of text) {
    const last = symbols.at(-1);
    if (character === " ") symbols.push({ kind: "space" });
    else if (character === "\n") symbols.push({ kind: "newline" });
    else if (character === "\t") symbols.push({ kind: "tab" });
    else if (SHAPELESS.test(character) && !(character === JOINER && last?.kind === "text")) {
      symbols.push({ kind: "code", code: character.codePointAt(0)! });
    } else if (last?.kind === "text") last.text += character;
    else symbols.push({ kind: "text", text: character });
  }
  return symbols;
}

/** `<U+202E>`. */
export function codePoint(code: number): string {
  return `<U+${code.toString(16).toUpperCase().padStart(4, "0")}>`;
}

/** A token's text with white space and shapeless characters made visible: `␣`, `↵`, `⇥`, `∅`, `<U+202E>`. */
export function visibleToken(text: string): string {
  return tokenSymbols(text).map(visibleSymbol).join("");
}

/** Longest text of one token that is drawn whole, in UTF-16 units; a card shows all of it. */
const LONGEST = 120;

/** As `visibleToken`, with what is beyond a line's length counted in its place: `aaaa…⟨99,880 more characters⟩`. */
export function shortToken(text: string): string {
  if (text.length <= LONGEST) return visibleToken(text);
  // Not through the middle of a pair.
  const cut = /[\ud800-\udbff]/.test(text[LONGEST - 1]!) ? LONGEST - 1 : LONGEST;
  return `${visibleToken(text.slice(0, cut))}…⟨${(text.length - cut).toLocaleString("en")} more characters⟩`;
}

export function visibleSymbol(symbol: TokenSymbol): string {
  switch (symbol.kind) {
    case "text":
      return symbol.text;
    case "space":
      return "␣";
    case "newline":
      return "↵";
    case "tab":
      return "⇥";
    case "empty":
      return "∅";
    case "code":
      return codePoint(symbol.code);
  }
}
