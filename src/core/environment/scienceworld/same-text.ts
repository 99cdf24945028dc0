/**
 * When two runs of ScienceWorld said the same. The simulator lists what is in a room, in a container or in a menu in an
 * order that differs from process to process, so lists are compared without it.
 */

const MENU_ENTRY = /^\s*\d+:\s*/;
const LISTED = /^\t/;

/** True when two texts differ in nothing but the order of list items and menu entries. */
export function sameText(left: string, right: string): boolean {
  return left === right || inOneOrder(left) === inOneOrder(right);
}

/** A text with every list in one order; menu entries lose their numbers. */
function inOneOrder(text: string): string {
  const lines: string[] = [];
  let group: string[] = [];
  let kind: string | null = null;
  const close = () => {
    lines.push(...group.sort());
    group = [];
  };
  for (const line of text.split("\n")) {
    const found = MENU_ENTRY.test(line) ? "menu" : LISTED.test(line) ? "list" : null;
    if (found !== kind) close();
    kind = found;
    group.push(sortedLine(found === "menu" ? line.replace(MENU_ENTRY, "\t") : line));
    if (found === null) close();
  }
  close();
  return lines.join("\n");
}

/** `On the table is: a cup (containing milk, tea), a book.` with the items of both lists sorted. */
function sortedLine(line: string): string {
  return splitOutside(line, /\. (?=[A-Z])/y)
    .map((sentence) => {
      const [, lead, list, end] = /^(.*? (?:is|see): )(.*?)(\.?\s*)$/.exec(sentence) ?? [];
      return list === undefined ? sortedBrackets(sentence) : `${lead}${sortedItems(list)}${end}`;
    })
    .join(". ");
}

/** `which is open` belongs to the item before it. */
const sortedItems = (list: string): string =>
  splitOutside(list, /, (?!which )/y)
    .map(sortedBrackets)
    .sort()
    .join(", ");

/** Sorts what stands in the outermost brackets of an item. */
function sortedBrackets(item: string): string {
  const open = item.indexOf("(");
  const close = item.lastIndexOf(")");
  if (open === -1 || close < open) return item;
  const [, lead = "", list = ""] = /^(containing )?(.*)$/s.exec(item.slice(open + 1, close)) ?? [];
  return `${item.slice(0, open + 1)}${lead}${sortedItems(list)}${item.slice(close)}`;
}

/** Parts of a text between separators that stand in no bracket. */
function splitOutside(text: string, separator: RegExp): string[] {
  const parts: string[] = [];
  let [depth, from] = [0, 0];
  for (let at = 0; at < text.length; at++) {
    if (text[at] === "(") depth++;
    else if (text[at] === ")") depth--;
    separator.lastIndex = at;
    const found = depth === 0 ? separator.exec(text) : null;
    if (found === null) continue;
    parts.push(text.slice(from, at));
    from = at + found[0].length;
    at = from - 1;
  }
  return [...parts, text.slice(from)];
}
