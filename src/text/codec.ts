import { InputError } from "../core/errors.ts";
import type { TextCodec } from "../core/loop/codec.ts";
import { decisionPromptIds, decisionResponseIds } from "./decision-ids.ts";
import type { Tokenizer } from "./tokenizer.ts";

/** A tokenizer as the loop sees it. `InputError` when it has no token that ends a turn. */
export function textCodec(tokenizer: Tokenizer): TextCodec {
  const { endOfTurnId, file } = tokenizer;
  if (endOfTurnId === null)
    throw new InputError("has no <|im_end|> and no eos_token to end a turn with", { file });
  return {
    encode: (text) => tokenizer.encode(text, { special: false }),
    decode: (ids) => tokenizer.decode(ids),
    endOfTurnId,
    promptIds: (decision, place) => decisionPromptIds(decision, tokenizer, place),
    responseIds: (decision, place) => decisionResponseIds(decision, tokenizer, place),
  };
}

/**
 * Teacher and student must read the same ids: the teacher scores the student's own response ids (Eq. (8)).
 *
 * @throws InputError naming the first id whose token differs
 */
export function checkSameTokenizer(teacher: Tokenizer, student: Tokenizer): void {
  const ids = Math.max(teacher.vocabularySize, student.vocabularySize);
  for (let id = 0; id < ids; id += 1) {
    const [a, b] = [shownToken(teacher, id), shownToken(student, id)];
    if (a === b) continue;
    throw new InputError(
      `not the student's tokenizer (${student.file}): id ${id} is ${a} here and ${b} there`,
      {
        file: teacher.file,
      },
    );
  }
}

function shownToken(tokenizer: Tokenizer, id: number): string {
  if (!tokenizer.hasToken(id)) return "no token";
  const piece = tokenizer.pieces([id])[0]!;
  return `${piece.special ? "the special token " : ""}${JSON.stringify(piece.text)}`;
}
