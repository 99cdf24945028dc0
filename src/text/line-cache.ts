/**
 * Encoding of texts that repeat lines, as evidence does from one decision to the next: each stretch of lines is encoded
 * once. Only for tokenizers that satisfy `encodesLineByLine`, where the ids are the same as in one piece.
 */
import type { AddedToken } from "./added-token.ts";

/**
 * The Split patterns of Qwen2 to Qwen3 and of Qwen3.5. In both no piece goes beyond a line feed that something other
 * than white space follows: letters, digits and contractions hold no line feed; punctuation takes the line feeds after
 * it and ends there; a run of white space with a line feed in it ends with its last one. Nothing looks behind, and the
 * one look ahead is not reached by a run of white space that ends with a line feed.
 */
const PATTERNS: ReadonlySet<unknown> = new Set([
  "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+",
  "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?[\\p{L}\\p{M}]+|\\p{N}| ?[^\\s\\p{L}\\p{M}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+",
]);

/** Of a tokenizer.json as the file has it: texts may be cut where `LineCache` cuts them without changing any id. */
export function encodesLineByLine(json: Record<string, unknown>, added: readonly AddedToken[]): boolean {
  const { normalizer, pre_tokenizer, post_processor } = json as Record<string, Part | null | undefined>;
  const [split, bytes, ...more] = pre_tokenizer?.pretokenizers ?? [];
  return (
    // A line feed composes with nothing.
    (!normalizer || normalizer.type === "NFC") &&
    pre_tokenizer?.type === "Sequence" &&
    split?.type === "Split" &&
    PATTERNS.has(split.pattern?.Regex) &&
    split.behavior === "Isolated" &&
    split.invert !== true &&
    bytes?.type === "ByteLevel" &&
    bytes.add_prefix_space === false &&
    bytes.use_regex === false &&
    more.length === 0 &&
    (!post_processor || post_processor.type === "ByteLevel") &&
    // Added tokens are found before anything else: none may reach over a line feed.
    added.every(
      ({ content, lstrip, rstrip, single_word }) =>
        !content.includes("\n") && lstrip !== true && rstrip !== true && single_word !== true,
    )
  );
}

/** What is looked at of a normalizer, pre-tokenizer or post-processor. */
interface Part {
  type?: unknown;
  pretokenizers?: Part[];
  pattern?: { Regex?: unknown };
  behavior?: unknown;
  invert?: unknown;
  add_prefix_space?: unknown;
  use_regex?: unknown;
}

/** Characters and ids that are kept; then all are forgotten. The texts of one task take a small part of it. */
const KEPT = 1 << 22;

export class LineCache {
  readonly #encode: (text: string) => number[];
  readonly #known = new Map<string, readonly number[]>();
  #size = 0;

  /** @param encode ids of a text in one piece */
  constructor(encode: (text: string) => number[]) {
    this.#encode = encode;
  }

  /** Ids of a text, in an array of the caller's own. */
  encode(text: string): number[] {
    const all: number[] = [];
    this.#forEachStretch(text, (ids) => {
      for (const id of ids) all.push(id);
    });
    return all;
  }

  /** How many ids `encode` gives. */
  count(text: string): number {
    let count = 0;
    this.#forEachStretch(text, (ids) => {
      count += ids.length;
    });
    return count;
  }

  /** Cuts after each line feed that a visible ASCII character follows. */
  #forEachStretch(text: string, each: (ids: readonly number[]) => void): void {
    let start = 0;
    for (let feed = text.indexOf("\n"); feed !== -1; feed = text.indexOf("\n", feed + 1)) {
      const next = text.charCodeAt(feed + 1);
      if (next > 0x20 && next < 0x7f) {
        each(this.#idsOf(text.slice(start, feed + 1)));
        start = feed + 1;
      }
    }
    if (start < text.length) each(this.#idsOf(text.slice(start)));
  }

  #idsOf(stretch: string): readonly number[] {
    let ids = this.#known.get(stretch);
    if (ids === undefined) {
      ids = this.#encode(stretch);
      this.#size += stretch.length + ids.length;
      if (this.#size > KEPT) {
        this.#known.clear();
        this.#size = stretch.length + ids.length;
      }
      this.#known.set(stretch, ids);
    }
    return ids;
  }
}
