/** What a tokenizer.json must hold before it is used: a byte-level BPE of Qwen's kind, whole and consistent. */

import { z } from "zod";
import { InputError } from "../core/errors.ts";
import { DEEPEST_OF_MODELS, parseJsonText } from "../core/json.ts";
import { checkedBy } from "../core/record/describe-issue.ts";
import { type AddedToken, addedTokenSchema } from "./added-token.ts";
import { encodesLineByLine } from "./line-cache.ts";
import { patternFault } from "./linear-pattern.ts";
import { spellOutCase } from "./pattern.ts";

const fileSchema = z.looseObject({
  added_tokens: z.array(addedTokenSchema),
  normalizer: z.looseObject({ type: z.string() }).nullable().optional(),
  pre_tokenizer: z.looseObject({ type: z.string() }),
  decoder: z.looseObject({ type: z.string() }),
  // Vocabulary and merges hold hundreds of thousands of entries: checked below without zod.
  model: z.looseObject({ type: z.string(), vocab: z.custom<object>(), merges: z.custom<unknown[]>() }),
});

/** Tokens, and merges, of the largest vocabulary: twice those of Gemma 3. */
const MOST_TOKENS = 2 ** 19;
/** Characters of the longest added token, and of all of them: each is looked for at every place of a text. */
const LONGEST_ADDED = 512;
const MOST_ADDED = 2 ** 20;
/** Normalizers, pre-tokenizers or decoders of one file; published ones have up to six. */
const MOST_PARTS = 32;

/** The parts of byte-level tokenizers. None makes a text much longer, as a `Replace` can, over and over. */
const NORMALIZERS = new Set(["Sequence", "NFC", "NFD", "NFKC", "NFKD", "Lowercase", "StripAccents", "Strip"]);
const PRE_TOKENIZERS = new Set([
  ...["Sequence", "ByteLevel", "Split", "Digits", "Punctuation"],
  ...["Whitespace", "WhitespaceSplit", "BertPreTokenizer"],
]);

export interface TokenizerFile {
  /** The parsed file, with its Split patterns ready for JavaScript. */
  json: Record<string, unknown>;
  /** Vocabulary strings by id; holes are undefined. Added tokens are among them. */
  tokens: (string | undefined)[];
  added: AddedToken[];
  /** See `encodesLineByLine`. */
  lineByLine: boolean;
}

function fail(message: string, file: string, key?: string): never {
  throw new InputError(message, key === undefined ? { file } : { file, key });
}

/** Refuses what is not among `known`, where that is given, and more than `MOST_PARTS`. Returns how many there are, those before included. */
function checkParts(
  part: unknown,
  known: ReadonlySet<string> | null,
  place: { file: string; key: string },
  before = 0,
): number {
  const count = before + 1;
  const { file, key } = place;
  if (count > MOST_PARTS) fail(`has more than ${MOST_PARTS} parts`, file, key.split(".")[0]);
  const values: Record<string, unknown> = { ...(part as object) };
  const { type, pattern } = values;
  if (known !== null && (typeof type !== "string" || !known.has(type)))
    fail(`expected one of ${[...known].join(", ")}, received ${JSON.stringify(type)}`, file, `${key}.type`);
  if (type === "Split") {
    const { Regex: regex, String: literal }: Record<string, unknown> = { ...(pattern as object) };
    if (typeof (regex ?? literal) !== "string") fail("expected a Regex or a String", file, `${key}.pattern`);
    const fault = typeof regex === "string" ? patternFault(regex) : null;
    if (fault !== null) fail(`a pattern that could take hours: it ${fault}`, file, `${key}.pattern.Regex`);
  }
  const inner = ["normalizers", "pretokenizers", "decoders"].flatMap((name) => {
    const parts = values[name];
    return Array.isArray(parts)
      ? parts.map((each: unknown, n) => ({ each, key: `${key}.${name}[${n}]` }))
      : [];
  });
  return inner.reduce((sum, { each, key }) => checkParts(each, known, { file, key }, sum), count);
}

function isByteLevel(part: Record<string, unknown>): boolean {
  if (part.type === "ByteLevel") return true;
  const inner = part.pretokenizers ?? part.decoders;
  return (
    Array.isArray(inner) &&
    inner.some((entry: unknown) => typeof entry === "object" && entry !== null && isByteLevel({ ...entry }))
  );
}

/** Spells out case-insensitive groups in every Split pattern below `part`, in place. */
function rewritePatterns(part: unknown): void {
  if (typeof part !== "object" || part === null) return;
  for (const [key, value] of Object.entries(part)) {
    if (key === "Regex" && typeof value === "string")
      (part as Record<string, unknown>)[key] = spellOutCase(value);
    else rewritePatterns(value);
  }
}

function checkCount(count: number, most: number, what: string, file: string, key: string): void {
  if (count > most) fail(`${count} ${what}, at most ${most} are taken`, file, key);
}

function readVocabulary(vocab: unknown, file: string): (string | undefined)[] {
  if (typeof vocab !== "object" || vocab === null || Array.isArray(vocab)) {
    fail("expected an object of token strings and ids", file, "model.vocab");
  }
  const entries = Object.entries(vocab as Record<string, unknown>);
  if (entries.length === 0) fail("holds no token", file, "model.vocab");
  checkCount(entries.length, MOST_TOKENS, "tokens", file, "model.vocab");
  // A damaged id must not make a huge array: no vocabulary leaves most of its ids out.
  const limit = 16 * entries.length + 65_536;
  const tokens: (string | undefined)[] = [];
  for (const [token, id] of entries) {
    const key = `model.vocab[${JSON.stringify(token)}]`;
    if (typeof id !== "number" || !Number.isInteger(id) || id < 0 || id > limit) {
      fail(`expected a token id, received ${JSON.stringify(id)}`, file, key);
    }
    if (tokens[id] !== undefined)
      fail(`id ${id} is already that of ${JSON.stringify(tokens[id])}`, file, key);
    tokens[id] = token;
  }
  return tokens;
}

function checkMerges(merges: unknown, vocab: object, file: string): void {
  if (!Array.isArray(merges)) fail("expected an array", file, "model.merges");
  checkCount((merges as unknown[]).length, MOST_TOKENS, "merges", file, "model.merges");
  (merges as unknown[]).forEach((merge, rank) => {
    const pair = typeof merge === "string" ? merge.split(" ") : merge;
    const key = `model.merges[${rank}]`;
    if (!Array.isArray(pair) || pair.length !== 2 || pair.some((part) => typeof part !== "string")) {
      fail(`expected "a b" or ["a", "b"], received ${JSON.stringify(merge)}`, file, key);
    }
    const [left, right] = pair as [string, string];
    for (const token of [left, right, left + right]) {
      if (!Object.hasOwn(vocab, token)) fail(`${JSON.stringify(token)} is not in the vocabulary`, file, key);
    }
  });
}

/** Parses and checks a tokenizer.json. Every fault is an `InputError` that names the file and the key. */
export function readTokenizerFile(text: string, file: string): TokenizerFile {
  const json = parseJsonText(text, { file }, DEEPEST_OF_MODELS);
  const checked = checkedBy(fileSchema, json, { file });
  const { model, normalizer, pre_tokenizer, decoder, added_tokens: added } = checked;
  if (normalizer) checkParts(normalizer, NORMALIZERS, { file, key: "normalizer" });
  checkParts(pre_tokenizer, PRE_TOKENIZERS, { file, key: "pre_tokenizer" });
  checkParts(decoder, null, { file, key: "decoder" });
  for (const key of ["continuing_subword_prefix", "continuing_subword_suffix", "end_of_word_suffix"])
    if (model[key] !== undefined && model[key] !== null && model[key] !== "")
      fail("byte-level tokens have none: expected null", file, `model.${key}`);
  if (model.type !== "BPE") {
    fail(
      `expected a byte-level BPE tokenizer, received model type ${JSON.stringify(model.type)}`,
      file,
      "model.type",
    );
  }
  for (const [key, part] of Object.entries({ pre_tokenizer, decoder })) {
    if (!isByteLevel(part)) {
      fail(`expected a byte-level BPE tokenizer, received type ${JSON.stringify(part.type)}`, file, key);
    }
  }
  const tokens = readVocabulary(model.vocab, file);
  checkMerges(model.merges, model.vocab, file);
  const limit = 16 * tokens.length + 65_536;
  const characters = added.reduce((sum, { content }) => sum + content.length, 0);
  checkCount(characters, MOST_ADDED, "characters", file, "added_tokens");
  added.forEach(({ id, content }, index) => {
    const key = `added_tokens[${index}]`;
    checkCount(content.length, LONGEST_ADDED, "characters", file, `${key}.content`);
    if (id > limit) fail(`expected a token id, received ${id}`, file, `${key}.id`);
    if (tokens[id] !== undefined && tokens[id] !== content) {
      fail(`id ${id} is already that of ${JSON.stringify(tokens[id])}`, file, key);
    }
    tokens[id] = content;
  });
  const lineByLine = encodesLineByLine(checked, added);
  rewritePatterns((json as Record<string, unknown>).pre_tokenizer);
  return { json: json as Record<string, unknown>, tokens, added, lineByLine };
}
