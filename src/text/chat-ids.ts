/**
 * Ids of a chat whose messages are data. Messages come from recordings and simulators: a special token that one of them
 * spells out (`<|im_end|>`) is text and must not end its turn, while the template's own tokens must stay tokens. The
 * reference library makes both tokens; ids differ from its own only where a message spells a special token out.
 */

import type { AddedToken } from "./added-token.ts";
import type { ChatMessage } from "./chat-template.ts";

export interface ChatEncoder {
  /** The tokens marked special, in any order. */
  special: readonly AddedToken[];
  render(messages: readonly ChatMessage[]): string;
  /** With `special` false, special tokens in the text are text. */
  encode(text: string, options: { special: boolean }): number[];
}

/** Supplementary private use area A: characters that no recording has a use for. */
const MARKS_FROM = 0xf0000;
const MARKS_TO = 0xffffd;

/**
 * Ids of the rendered chat. Special tokens in message contents are replaced by unused characters, the chat is rendered
 * and cut at the special tokens that are left, which are the template's; what lies between is encoded as plain text
 * with the contents restored. Text of template and content is thus tokenized together, as in the rendered text.
 */
export function chatIds(messages: readonly ChatMessage[], encoder: ChatEncoder): number[] {
  const rendered = encoder.render(messages);
  // The longest match wins, as in the reference library.
  const special = [...encoder.special].sort((a, b) => b.content.length - a.content.length);
  const spelledOut = special.filter(({ content }) => messages.some((m) => m.content.includes(content)));
  if (spelledOut.length === 0) return encoder.encode(rendered, { special: true });

  const marks = unusedCharacters(spelledOut.length, [rendered, ...messages.map((m) => m.content)].join(""));
  const mark = (text: string) =>
    spelledOut.reduce((marked, { content }, n) => marked.replaceAll(content, marks[n]!), text);
  const restore = (text: string) =>
    spelledOut.reduce((restored, { content }, n) => restored.replaceAll(marks[n]!, () => content), text);

  const text = encoder.render(messages.map((message) => ({ ...message, content: mark(message.content) })));
  const ids: number[] = [];
  // Text to the left of the next special token, which that token may ask to trim.
  const flush = (between: string): void => {
    // One by one: a long text has more ids than a call takes arguments.
    for (const id of encoder.encode(restore(between), { special: false })) ids.push(id);
  };
  let rest = text;
  for (;;) {
    const next = firstSpecial(rest, special);
    if (next === null) break;
    const { at, token } = next;
    const before = rest.slice(0, at);
    flush(token.lstrip === true ? before.trimEnd() : before);
    ids.push(token.id);
    rest = rest.slice(at + token.content.length);
    if (token.rstrip === true) rest = rest.trimStart();
  }
  flush(rest);
  return ids;
}

/** The leftmost special token, of those that begin there the longest. */
function firstSpecial(
  text: string,
  special: readonly AddedToken[],
): { at: number; token: AddedToken } | null {
  let first: { at: number; token: AddedToken } | null = null;
  for (const token of special) {
    const at = text.indexOf(token.content);
    if (at !== -1 && (first === null || at < first.at)) first = { at, token };
  }
  return first;
}

function unusedCharacters(count: number, text: string): string[] {
  const found: string[] = [];
  for (let code = MARKS_FROM; found.length < count && code <= MARKS_TO; code++) {
    const character = String.fromCodePoint(code);
    if (!text.includes(character)) found.push(character);
  }
  if (found.length < count) throw new Error("the messages use the whole private use area");
  return found;
}
