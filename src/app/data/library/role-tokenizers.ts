/** Teacher's and student's tokenizers, and whether the model of one reads the ids that the other writes. */
import { problemOf } from "../../../core/errors.ts";
import {
  loadTokenizer,
  type Tokenizer,
  type TokenizerTexts,
  type UnsharedIds,
  unsharedIds,
} from "../../../text/index.ts";

export type RoleTexts = Record<"teacher" | "student", TokenizerTexts>;

/** Why one model cannot read the other's ids, in one line each; null where it can. */
export interface TokenizerFit {
  /** The student cannot score what the teacher's tokenizer writes. */
  scoring: string | null;
  /** The teacher cannot score what the student's tokenizer writes. */
  training: string | null;
}

export class RoleTokenizers {
  readonly teacher: Tokenizer;
  readonly student: Tokenizer;

  /** Throws `InputError` for files that make no tokenizer. */
  constructor({ teacher, student }: RoleTexts) {
    this.teacher = loadTokenizer(teacher);
    this.student = isSame(teacher, student) ? this.teacher : loadTokenizer(student);
  }

  /** What the student must not get of the teacher's ids. Throws `InputError` when it reads others altogether. */
  scoring(): UnsharedIds {
    return unsharedIds(this.student, this.teacher);
  }

  /** What the teacher must not get of the student's ids. Throws `InputError` when it reads others altogether. */
  training(): UnsharedIds {
    return unsharedIds(this.teacher, this.student);
  }

  fit(): TokenizerFit {
    return {
      scoring: problemOf(() => this.scoring()),
      training: problemOf(() => this.training()),
    };
  }
}

function isSame(a: TokenizerTexts, b: TokenizerTexts): boolean {
  const keys = ["tokenizerJson", "tokenizerConfigJson", "chatTemplate"] as const;
  return keys.every((key) => a[key] === b[key]);
}
