/** A model's tokenizer: text to ids and back, the pieces for display, and the chat template. */
import { Tokenizer as LibraryTokenizer } from "@huggingface/tokenizers";
import { InputError } from "../core/errors.ts";
import { DEEPEST_OF_MODELS, parseJsonText } from "../core/json.ts";
import type { AddedToken } from "./added-token.ts";
import { scanUtf8, showBytes, tokenBytes } from "./byte-level.ts";
import { chatIds } from "./chat-ids.ts";
import {
  type ChatMessage,
  type ChatOptions,
  type ChatTemplate,
  checkConfig,
  compileChatTemplate,
  specialToken,
} from "./chat-template.ts";
import { LineCache } from "./line-cache.ts";
import { readTokenizerFile, type TokenizerFile } from "./tokenizer-file.ts";

/** One token for a person. */
export interface TokenPiece {
  id: number;
  /** Its text; bytes that are only a part of a character as `<0xE2>`; `<id 1870>` for an id without a token. */
  text: string;
  /** True when `text` shows such bytes, or an id without a token. */
  partial: boolean;
  /** A special token: left out by `decode` with `skipSpecial`. */
  special: boolean;
}

/** Where a token lies in the text that `decode(ids)` gives: UTF-16 offsets, [start, end). */
export interface TokenSpan {
  start: number;
  end: number;
}

/** Characters of the longest text in one piece: a million tokens, four times the context of any model here. */
const LONGEST_TEXT = 2 ** 24;

const END_OF_TURN = "<|im_end|>";

export class Tokenizer {
  readonly #library: LibraryTokenizer;
  readonly #json: Record<string, unknown>;
  readonly #added: readonly AddedToken[];
  /** The same tokenizer without its special tokens, built when a text first spells one out. */
  #plain: LibraryTokenizer | null = null;
  readonly #tokens: readonly (string | undefined)[];
  readonly #bytes: (Uint8Array | undefined)[] = [];
  readonly #ids = new Map<string, number>();
  readonly #special: ReadonlySet<number>;
  readonly #addedIds: ReadonlySet<number>;
  readonly #chat: ChatTemplate;
  /** Of texts with their special tokens, and of texts in which these are text; null where lines are not independent. */
  readonly #lines: { special: LineCache; text: LineCache } | null;
  /** Shown in messages. */
  readonly file: string;
  /** Highest id + 1: the fewest vocabulary rows a model must have. */
  readonly vocabularySize: number;
  /** Id of `<|im_end|>`, or of the config's end token where there is no such token; null when there is neither. */
  readonly endOfTurnId: number | null;

  constructor(file: TokenizerFile, name: string, eosToken: string | undefined, chat: ChatTemplate) {
    // What follows the encoding adds special tokens, which is never asked for here.
    this.#json = { ...file.json, post_processor: null };
    try {
      // An empty config: what it can change (clean-up of spaces, for one) byte-level BPE does not want.
      this.#library = new LibraryTokenizer(this.#json, {});
    } catch (error) {
      throw new InputError(
        `not a tokenizer that can be read: ${error instanceof Error ? error.message : String(error)}`,
        { file: name },
      );
    }
    this.file = name;
    this.#added = file.added;
    this.#tokens = file.tokens;
    file.tokens.forEach((token, id) => {
      if (token !== undefined) this.#ids.set(token, id);
    });
    this.#addedIds = new Set(file.added.map(({ id }) => id));
    this.#special = new Set(file.added.filter(({ special }) => special).map(({ id }) => id));
    this.#chat = chat;
    this.#lines = file.lineByLine
      ? {
          special: new LineCache((text) => this.#encodeWhole(text, true)),
          text: new LineCache((text) => this.#encodeWhole(text, false)),
        }
      : null;
    this.vocabularySize = file.tokens.length;
    this.endOfTurnId =
      this.idOf(END_OF_TURN) ?? (eosToken === undefined ? null : (this.idOf(eosToken) ?? null));
  }

  /**
   * Ids of a text as it stands; nothing is added. Special tokens written out in it become their ids, or, with `special`
   * false, are text like any other (`encode_special_tokens` of the reference library): so recorded text is encoded,
   * which must not end a turn or begin one. Added tokens that are not special (`<tool_call>`) become their ids in both.
   */
  encode(text: string, { special = true }: { special?: boolean } = {}): number[] {
    return this.#lines?.[special ? "special" : "text"].encode(text) ?? this.#encodeWhole(text, special);
  }

  /** How many ids `encode` gives; in much less time where the text's lines were encoded lately. */
  count(text: string, { special = true }: { special?: boolean } = {}): number {
    return this.#lines?.[special ? "special" : "text"].count(text) ?? this.#encodeWhole(text, special).length;
  }

  #encodeWhole(text: string, special: boolean): number[] {
    if (text === "") return [];
    if (text.length > LONGEST_TEXT)
      throw new InputError(
        `a text of ${text.length} characters, at most ${LONGEST_TEXT} are encoded at once`,
        {
          file: this.file,
        },
      );
    const ids = this.#encodeBy(this.#library, text);
    if (special || !ids.some((id) => this.#special.has(id))) return ids;
    this.#plain ??= new LibraryTokenizer(
      { ...this.#json, added_tokens: this.#added.filter((token) => !token.special) },
      {},
    );
    return this.#encodeBy(this.#plain, text);
  }

  #encodeBy(library: LibraryTokenizer, text: string): number[] {
    try {
      return library.encode(text, { add_special_tokens: false }).ids;
    } catch (error) {
      // The library takes the options of its parts as they are, and meets those of a wrong type here.
      throw new InputError(
        `this tokenizer cannot encode: ${error instanceof Error ? error.message : String(error)}`,
        { file: this.file },
      );
    }
  }

  /**
   * Ids of the chat that the model sees for these messages. Special tokens are those of the template; the ones that a
   * message's content spells out are text, where `encode(applyChatTemplate(…))` would let them end the turn.
   */
  chatIds(messages: readonly ChatMessage[], options: ChatOptions): number[] {
    return chatIds(messages, {
      special: this.#added.filter((token) => token.special),
      render: (list) => this.applyChatTemplate(list, options),
      encode: (text, how) => this.encode(text, how),
    });
  }

  /**
   * Text of ids. Bytes that make no character become U+FFFD. Ids without a token are left out, as the reference
   * library does; ask `hasToken` where that matters.
   */
  decode(ids: readonly number[], options: { skipSpecial: boolean } = { skipSpecial: false }): string {
    return new TextDecoder("utf-8", { ignoreBOM: true }).decode(this.#join(ids, options.skipSpecial).bytes);
  }

  /** Each token for display, by itself: a character spread over several tokens shows as its bytes in each. */
  pieces(ids: readonly number[]): TokenPiece[] {
    return ids.map((id) => {
      const bytes = this.#bytesOf(id);
      const special = this.#special.has(id);
      return bytes === undefined
        ? { id, text: `<id ${id}>`, partial: true, special }
        : { id, ...showBytes(bytes), special };
    });
  }

  /** Place of each token in `decode(ids)`. A token that holds a part of a character covers the whole of it. */
  spans(ids: readonly number[]): TokenSpan[] {
    const { bytes, ends } = this.#join(ids, false);
    const spans: TokenSpan[] = [];
    let offset = 0;
    let token = 0;
    const segments = scanUtf8(bytes);
    let segment = segments.next().value;
    let from = 0;
    for (; token < ids.length; token++) {
      const to = ends[token]!;
      // Skip characters that end before this token begins.
      while (segment && segment.end <= from) {
        offset += segment.codePoint !== null && segment.codePoint > 0xffff ? 2 : 1;
        segment = segments.next().value;
      }
      const start = offset;
      let end = offset;
      while (segment && segment.start < to) {
        const width = segment.codePoint !== null && segment.codePoint > 0xffff ? 2 : 1;
        end = offset + width;
        if (segment.end > to) break;
        offset = end;
        segment = segments.next().value;
      }
      spans.push({ start, end });
      from = to;
    }
    return spans;
  }

  /** True when the id stands for a token. */
  hasToken(id: number): boolean {
    return this.#tokens[id] !== undefined;
  }

  /** Whether an id stands for the same bytes in another tokenizer; false where either has no token of it. */
  means(id: number, other: Tokenizer): boolean {
    const [token, theirs] = [this.#tokens[id], other.#tokens[id]];
    if (token === undefined || theirs === undefined) return false;
    if (token === theirs) return true;
    const [a, b] = [tokenBytes(token), tokenBytes(theirs)];
    return a.length === b.length && a.every((byte, i) => byte === b[i]);
  }

  /** Id of a vocabulary string or an added token; undefined when there is none. */
  idOf(token: string): number | undefined {
    return this.#ids.get(token);
  }

  /** True for added tokens, special or not: those outside the base vocabulary. */
  isAdded(id: number): boolean {
    return this.#addedIds.has(id);
  }

  /** True for special tokens such as `<|im_end|>`. */
  isSpecial(id: number): boolean {
    return this.#special.has(id);
  }

  /** The text that the model sees for these messages. */
  applyChatTemplate(messages: readonly ChatMessage[], options: ChatOptions): string {
    return this.#chat(messages, options);
  }

  #bytesOf(id: number): Uint8Array | undefined {
    const known = this.#bytes[id];
    if (known !== undefined) return known;
    const token = this.#tokens[id];
    if (token === undefined) return undefined;
    const bytes = tokenBytes(token);
    this.#bytes[id] = bytes;
    return bytes;
  }

  /** Bytes of all tokens, and where each token's bytes end. */
  #join(ids: readonly number[], skipSpecial: boolean): { bytes: Uint8Array; ends: number[] } {
    const parts: Uint8Array[] = [];
    const ends: number[] = [];
    let length = 0;
    for (const id of ids) {
      const part = skipSpecial && this.#special.has(id) ? undefined : this.#bytesOf(id);
      if (part !== undefined) {
        parts.push(part);
        length += part.length;
      }
      ends.push(length);
    }
    const bytes = new Uint8Array(length);
    let at = 0;
    for (const part of parts) {
      bytes.set(part, at);
      at += part.length;
    }
    return { bytes, ends };
  }
}

/** The texts of a tokenizer folder's files. */
export interface TokenizerTexts {
  tokenizerJson: string;
  /** tokenizer_config.json: chat template and end token. Without it there is no chat template. */
  tokenizerConfigJson?: string;
  /** chat_template.jinja, where a folder keeps the template in a file of its own. */
  chatTemplate?: string;
  /** The folder, shown in messages. */
  file: string;
}

/** Builds a tokenizer. Malformed files are an `InputError` that names the file and the key. */
export function loadTokenizer(texts: TokenizerTexts): Tokenizer {
  const { file } = texts;
  const tokenizerFile = readTokenizerFile(texts.tokenizerJson, `${file}/tokenizer.json`);
  const configName = `${file}/tokenizer_config.json`;
  const config = checkConfig(
    texts.tokenizerConfigJson === undefined
      ? {}
      : parseJsonText(texts.tokenizerConfigJson, { file: configName }, DEEPEST_OF_MODELS),
    configName,
  );
  const chat = compileChatTemplate(
    config,
    texts.chatTemplate,
    texts.chatTemplate === undefined ? configName : `${file}/chat_template.jinja`,
  );
  return new Tokenizer(tokenizerFile, file, specialToken(config.eos_token), chat);
}

/** `InputError` when the tokenizer has ids that the model has no vocabulary row for. More rows than ids are usual. */
export function checkTokenizerFits(tokenizer: Tokenizer, model: { name: string; vocabulary: number }): void {
  if (tokenizer.vocabularySize <= model.vocabulary) return;
  throw new InputError(
    `the tokenizer does not fit the model: it has ids up to ${tokenizer.vocabularySize - 1}, and ${model.name} has ${model.vocabulary} vocabulary rows`,
    { file: tokenizer.file },
  );
}
