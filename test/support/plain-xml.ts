/** A reader of XML 1.0 without document types: strict, and independent of how the files were written. */

/** `Char` of XML 1.0. */
const LEGAL = /^[\t\n\r\x20-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]*$/u;
const ENTITIES: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };
const NAME = "[A-Za-z_][\\w:.-]*";
const TAG = new RegExp(`^<(/?)(${NAME})((?:\\s+${NAME}="[^"<]*")*)\\s*(/?)>`);

export interface XmlElement {
  name: string;
  attributes: Record<string, string>;
  /** Its own text, without that of the elements in it. */
  text: string;
}

function decoded(text: string): string {
  return text.replace(/&(#x[0-9a-f]+|#\d+|\w*);?/gi, (whole, name: string) => {
    if (!whole.endsWith(";")) throw new Error(`no character reference: ${whole}`);
    const code = /^#x/i.test(name) ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1));
    const character = name.startsWith("#") ? String.fromCodePoint(code) : ENTITIES[name];
    if (character === undefined || !LEGAL.test(character)) throw new Error(`no character: ${whole}`);
    return character;
  });
}

/** The elements in document order. Throws where the text is not well-formed. */
export function readXml(xml: string): XmlElement[] {
  if (!LEGAL.test(xml)) throw new Error("holds a character that XML cannot");
  const elements: XmlElement[] = [];
  const open: XmlElement[] = [];
  for (let rest = xml.trim(); rest !== ""; ) {
    const until = rest.indexOf("<");
    const text = until < 0 ? rest : rest.slice(0, until);
    if (text !== "") {
      const within = open.at(-1);
      if (within === undefined) throw new Error(`text outside of the root: ${text.slice(0, 40)}`);
      if (text.includes("]]>")) throw new Error("]]> in text");
      within.text += decoded(text);
      rest = rest.slice(text.length);
      continue;
    }
    const tag = TAG.exec(rest);
    if (tag === null) throw new Error(`no tag: ${rest.slice(0, 40)}`);
    const [whole, closes, name, attributes, empty] = tag;
    rest = rest.slice(whole.length);
    if (closes !== "") {
      if (open.pop()?.name !== name) throw new Error(`</${name}> ends what is not open`);
      continue;
    }
    if (open.length === 0 && elements.length > 0) throw new Error("a second root");
    const found: Record<string, string> = {};
    for (const [, key, value] of attributes!.matchAll(new RegExp(`(${NAME})="([^"]*)"`, "g"))) {
      if (Object.hasOwn(found, key!)) throw new Error(`${key} twice`);
      found[key!] = decoded(value!);
    }
    const element = { name: name!, attributes: found, text: "" };
    elements.push(element);
    if (empty === "") open.push(element);
  }
  if (open.length > 0) throw new Error(`<${open.at(-1)!.name}> is not ended`);
  return elements;
}
