/** The tokenizer that counts and scores, and that of a further model beside it. */
import { InputError } from "../../core/errors.ts";
import {
  hashTokenizer,
  loadTokenizer,
  type Tokenizer,
  type TokenizerHashes,
  type TokenizerTexts,
  unsharedIds,
} from "../../text/index.ts";

export class OpenTokenizers {
  #open: { tokenizer: Tokenizer; texts: TokenizerTexts } | null = null;
  #hashes: TokenizerHashes | null = null;
  #other: Tokenizer | null = null;

  /** Null while none is open. */
  get tokenizer(): Tokenizer | null {
    return this.#open?.tokenizer ?? null;
  }

  /** Of a further model; null where it reads the same ids as the open one. */
  get other(): Tokenizer | null {
    return this.#other;
  }

  /** Throws `InputError` for files that make none. */
  set(texts: TokenizerTexts): void {
    this.#open = { tokenizer: loadTokenizer(texts), texts };
    this.#hashes = null;
  }

  /** Hashes of the open one's files, counted when they are asked for first; null while none is open. */
  hashes(): TokenizerHashes | null {
    if (this.#open !== null) this.#hashes ??= hashTokenizer(this.#open.texts);
    return this.#hashes;
  }

  /**
   * The tokenizer of a further model. Returns its hashes; null where every id is the same token as in the open one,
   * whose ids the model then reads as they are. Throws `InputError` for files that make none.
   */
  setOther(texts: TokenizerTexts): TokenizerHashes | null {
    const other = loadTokenizer(texts);
    this.#other = this.tokenizer !== null && readsSameIds(other, this.tokenizer) ? null : other;
    return this.#other === null ? null : hashTokenizer(texts);
  }

  /** The texts of token ids, as they are shown. Throws `InputError` while none is open. */
  texts(ids: readonly number[], { other = false }: { other?: boolean } = {}): string[] {
    const tokenizer = other ? (this.#other ?? this.tokenizer) : this.tokenizer;
    if (tokenizer === null) throw new InputError("no tokenizer is open");
    return ids.map((id) => tokenizer.pieces([id])[0]!.text);
  }
}

function readsSameIds(reader: Tokenizer, writer: Tokenizer): boolean {
  try {
    return unsharedIds(reader, writer).ids.size === 0;
  } catch (error) {
    if (error instanceof InputError) return false;
    throw error;
  }
}
