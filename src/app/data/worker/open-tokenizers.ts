/** The tokenizers of teacher and student, and that of a further model beside them. */
import { InputError, problemOf } from "../../../core/errors.ts";
import {
  checkShared,
  hashTokenizer,
  loadTokenizer,
  type Tokenizer,
  type TokenizerHashes,
  type TokenizerTexts,
  unsharedIds,
} from "../../../text/index.ts";
import { type RoleTexts, RoleTokenizers, type TokenizerFit } from "../library/role-tokenizers.ts";
import type { ScorePair } from "../model.ts";

/** Whose tokenizer writes the ids. */
export type Writer = "teacher" | "student" | "other";

export class OpenTokenizers {
  #open: { roles: RoleTokenizers; texts: RoleTexts } | null = null;
  #hashes: TokenizerHashes | null = null;
  #other: Tokenizer | null = null;

  /** The teacher's, which counts evidence and writes what is scored; null while none is open. */
  get tokenizer(): Tokenizer | null {
    return this.#open?.roles.teacher ?? null;
  }

  /** Null while none is open. A further model that reads the teacher's ids has the teacher's. */
  of(writer: Writer): Tokenizer | null {
    if (writer === "student") return this.#open?.roles.student ?? null;
    return writer === "other" ? (this.#other ?? this.tokenizer) : this.tokenizer;
  }

  /** The open ones, each once, the teacher's first. */
  all(): Tokenizer[] {
    return [...new Set([this.of("teacher"), this.of("student")])].filter((each) => each !== null);
  }

  /** Throws `InputError` for files that make none; those before stay. */
  set(texts: RoleTexts): TokenizerFit {
    const roles = new RoleTokenizers(texts);
    const fit = roles.fit();
    this.#open = { roles, texts };
    this.#hashes = null;
    return fit;
  }

  /** Hashes of the files of the teacher's, counted when they are asked for first; null while none is open. */
  hashes(): TokenizerHashes | null {
    if (this.#open !== null) this.#hashes ??= hashTokenizer(this.#open.texts.teacher);
    return this.#hashes;
  }

  /** Why the student cannot score a pair that the teacher's tokenizer wrote, in one line; null when it can. */
  studentProblem({ vanillaIds, responseIds }: Pick<ScorePair, "vanillaIds" | "responseIds">): string | null {
    return problemOf(() => {
      const unshared = this.#open?.roles.scoring();
      if (unshared === undefined) return;
      checkShared(vanillaIds, unshared, "prompt");
      checkShared(responseIds, unshared, "response");
    });
  }

  /**
   * The tokenizer of a further model. Returns its hashes; null where it reads every id as the teacher's does: its model
   * then scores the same ids. Throws `InputError` for files that make none.
   */
  setOther(texts: TokenizerTexts): TokenizerHashes | null {
    const other = loadTokenizer(texts);
    this.#other = this.tokenizer !== null && readsSameIds(other, this.tokenizer) ? null : other;
    return this.#other === null ? null : hashTokenizer(texts);
  }

  /** The texts of token ids, as they are shown. Throws `InputError` while none is open. */
  texts(ids: readonly number[], writer: Writer): string[] {
    const tokenizer = this.of(writer);
    if (tokenizer === null) throw new InputError("no tokenizer is open");
    return ids.map((id) => tokenizer.pieces([id])[0]!.text);
  }
}

function readsSameIds(reader: Tokenizer, writer: Tokenizer): boolean {
  let added = 0;
  const problem = problemOf(() => {
    added = unsharedIds(reader, writer).ids.size;
  });
  return problem === null && added === 0;
}
