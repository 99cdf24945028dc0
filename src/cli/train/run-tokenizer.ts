/** The tokenizer of a run, and what its models read: refused as the config is read, before anything starts. */
import { join } from "node:path";
import { InputError } from "../../core/errors.ts";
import { isServed, STUDENT_TEACHER, type TextCodec } from "../../core/loop/index.ts";
import { parseHubName } from "../../engine/hub/hub-client.ts";
import { openFolder } from "../../engine/native/node-folder.ts";
import { isThere } from "../../node/file-error.ts";
import { readModelHeader } from "../../tensor/index.ts";
import {
  checkTokenizerFits,
  openTokenizer,
  type Tokenizer,
  textCodec,
  unsharedIds,
  unsharedNote,
} from "../../text/index.ts";
import { toldAt } from "../config-file.ts";

/** Keys of a config: where its models are, and its tokenizer. */
export interface TokenizerKeys {
  student: string;
  /** Null where no stage asks one. */
  teacher: string | null;
  calibrate_with?: string | undefined;
  tokenizer?: string | undefined;
  end_of_turn?: boolean | undefined;
}

export interface RunTokenizer {
  codec: TextCodec;
  /** That writes every id. */
  writer: Tokenizer;
  /** Refuses a model whose vocabulary is smaller than its tokenizer's. */
  fits(role: "teacher" | "student", model: { name: string; vocabulary: number }): void;
}

/** The folder of the teacher's own tokenizer; absent where only a server has it: what that reads is compared once it is asked. */
function teacherFolder({ teacher, student, calibrate_with: own }: TokenizerKeys): string | undefined {
  if (teacher === null || teacher === STUDENT_TEACHER) return student;
  return isServed(teacher) ? own : teacher;
}

const has = (folder: string): boolean => isThere(join(folder, "tokenizer.json"));

/**
 * The tokenizer of a run: `tokenizer` of the config, else the student's. It writes every id; a model whose folder has
 * another one must read the same ids.
 *
 * @param part what stands before `calibrate_with` in the file
 * @throws InputError that names file and key, for a tokenizer that is missing or bad, and for one with other ids
 */
export async function runTokenizer(
  keys: TokenizerKeys,
  file: string,
  onNote: (note: string) => void = () => undefined,
  part = "",
): Promise<RunTokenizer> {
  const { tokenizer: named, student, teacher, end_of_turn: endOfTurn = true } = keys;
  const missing = (message: string) => new InputError(message, { file, key: "tokenizer" });
  const folder = named ?? student;
  if (!has(folder)) {
    throw missing(
      named === undefined
        ? `the student's folder has no tokenizer.json: put its own there, or name a folder with it here (${folder})`
        : `no tokenizer.json in ${folder}`,
    );
  }
  const teachers = teacherFolder(keys);
  if (named === undefined && teachers === teacher && teachers !== undefined && !has(teachers)) {
    throw missing(
      `the teacher's folder has no tokenizer.json: put its own there, or name here the folder of the tokenizer that both models read (${teachers})`,
    );
  }
  const writer = await toldAt({ file, key: named === undefined ? "student" : "tokenizer" }, () =>
    openTokenizer(openFolder(folder)),
  );
  const reading = (model: string | undefined, key: string) =>
    toldAt({ file, key }, async () => {
      if (model === undefined || model === folder || !has(model)) return { reader: writer, unshared: null };
      const reader = await openTokenizer(openFolder(model));
      return { reader, unshared: unsharedIds(reader, writer) };
    });
  const readBy = {
    student: await reading(student, "student"),
    teacher: await reading(teachers === student ? undefined : teachers, teachersKey(keys, part)),
  };
  if (teachers === student) readBy.teacher = readBy.student;
  const unshared = [...new Set([readBy.student.unshared, readBy.teacher.unshared])].filter(
    (each) => each !== null,
  );
  for (const each of unshared) {
    const note = unsharedNote(each);
    if (note !== null) onNote(note);
  }
  return {
    codec: textCodec(writer, { unshared, endOfTurn }),
    writer,
    fits: (role, model) => checkTokenizerFits(readBy[role].reader, model),
  };
}

const teachersKey = ({ teacher }: TokenizerKeys, part: string): string =>
  isServed(teacher ?? undefined) ? `${part}calibrate_with` : "teacher";

/**
 * Refuses what a run would refuse of its tokenizers once it opens its models. Of models of the hub that is known only
 * once they are here.
 *
 * @param hasWeights whether the student's folder does: a server may have them
 * @throws InputError as `runTokenizer` does, and for a model with fewer vocabulary rows than its tokenizer has ids
 */
export async function checkTokenizers(
  keys: TokenizerKeys,
  file: string,
  { part = "", hasWeights = true }: { part?: string; hasWeights?: boolean } = {},
): Promise<void> {
  const { student, tokenizer } = keys;
  const teacher = teacherFolder(keys);
  if ([student, teacher].some((model) => model !== undefined && parseHubName(model) !== null)) {
    if (tokenizer !== undefined) await checkTokenizer({ file, key: "tokenizer" }, tokenizer);
    return;
  }
  const { fits } = await runTokenizer(keys, file, undefined, part);
  const models = [
    { role: "student", key: "student", model: hasWeights ? student : undefined },
    { role: "teacher", key: teachersKey(keys, part), model: teacher === student ? undefined : teacher },
  ] as const;
  for (const { role, key, model } of models)
    if (model !== undefined)
      await toldAt({ file, key }, async () => fits(role, { name: model, vocabulary: await rowsOf(model) }));
}

/**
 * Refuses a folder that holds no sound tokenizer, and one whose tokenizer does not fit the model.
 *
 * @param model its folder; absent where its weights are elsewhere
 * @throws InputError that names the config's file and key
 */
export const checkTokenizer = (
  where: { file: string; key: string },
  folder: string,
  model?: string,
): Promise<void> =>
  toldAt(where, async () => {
    const tokenizer = await openTokenizer(openFolder(folder));
    if (model !== undefined) checkTokenizerFits(tokenizer, { name: model, vocabulary: await rowsOf(model) });
  });

const rowsOf = async (model: string): Promise<number> =>
  (await readModelHeader(openFolder(model))).config.vocabularySize;
