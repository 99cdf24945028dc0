/** Opens a model folder that came without a tokenizer, with the one that the user chose. */
import { InputError } from "../../core/errors.ts";
import type { TokenizerTexts } from "../../text/index.ts";
import { faultNotice } from "../base/faults.ts";
import { models } from "../compute/models/models.ts";
import { getUi, type Role, setUi } from "../compute/store.ts";
import { tokenizerTexts, withTokenizer } from "../data/files/model-folder.ts";
import { otherModel } from "../features/tokens/other-model.ts";

/** With the tokenizer of the present teacher or student. */
export function openWithTokenizerOf(role: Role): Promise<void> {
  return openWith(() => models.tokenizer(role));
}

/** With files that the user picked: tokenizer.json and what belongs to it. */
export function openWithTokenizerFiles(files: readonly File[]): Promise<void> {
  return openWith(async () => {
    const folder = { name: "picked", files: new Map(files.map((file) => [file.name, file])) };
    const texts = await tokenizerTexts(folder);
    if (texts !== null) return texts;
    throw new InputError("expected tokenizer.json", { file: files.map(({ name }) => name).join(", ") });
  });
}

async function openWith(choose: () => Promise<TokenizerTexts>): Promise<void> {
  const pending = getUi().pendingTokenizer;
  if (pending === null) return;
  try {
    const folder = withTokenizer(pending.folder, await choose());
    setUi({ pendingTokenizer: null });
    if (pending.role === "other") await otherModel.pick(async () => folder);
    else await models.open(pending.role, folder);
  } catch (error) {
    setUi({ notice: faultNotice(error) });
  }
}
