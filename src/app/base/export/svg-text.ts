/** Text in a picture: escaped, measured and broken into lines. */

/** Fonts of saved pictures. No font is embedded: the first one that the viewer has is taken. */
export const SANS = "Helvetica, Arial, 'Liberation Sans', sans-serif";
export const MONO = "Menlo, Consolas, 'DejaVu Sans Mono', 'Liberation Mono', monospace";

/** Width of a text in pixels. */
export type Measure = (text: string, size: number, font: string) => number;

/** By the average width of a letter: for where there is no canvas. */
export const roughly: Measure = (text, size, font) => text.length * size * (font === MONO ? 0.602 : 0.53);

/** By the canvas of the browser. */
export function canvasMeasure(): Measure {
  const context = document.createElement("canvas").getContext("2d");
  if (context === null) return roughly;
  return (text, size, font) => {
    context.font = `${size}px ${font}`;
    return context.measureText(text).width;
  };
}

/** Any text as the text of an XML element or attribute; what XML cannot hold becomes U+FFFD. */
export function xmlText(text: string): string {
  return (
    text
      // Half of a pair is not a character.
      .replace(/\p{Cs}/gu, "\ufffd")
      // biome-ignore lint/suspicious/noControlCharactersInRegex: XML 1.0 forbids these, escaped or not
      .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "\ufffd")
      .replace(/&/g, "&amp;")
      .replace(/</g, "&lt;")
      .replace(/>/g, "&gt;")
      .replace(/"/g, "&quot;")
  );
}

/** Lines no wider than `width`: broken at spaces, and inside a word that is wider by itself. */
export function wrapped(text: string, width: number, wide: (text: string) => number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    const longer = line === "" ? word : `${line} ${word}`;
    if (wide(longer) <= width) {
      line = longer;
      continue;
    }
    if (line !== "") lines.push(line);
    line = "";
    for (const character of word) {
      if (line !== "" && wide(line + character) > width) {
        lines.push(line);
        line = "";
      }
      line += character;
    }
  }
  if (line !== "") lines.push(line);
  return lines;
}

/** A line of text at its baseline. */
export function textLine(
  text: string,
  { x, y, size, ...rest }: { x: number; y: number; size: number } & Record<string, string | number>,
): string {
  const attributes = Object.entries({ x: round(x), y: round(y), "font-size": size, ...rest });
  const written = attributes.map(([name, value]) => ` ${name}="${xmlText(String(value))}"`).join("");
  return `<text${written} xml:space="preserve">${xmlText(text)}</text>`;
}

export const round = (value: number): number => Math.round(value * 100) / 100;
