/** A tokenizer from a model folder, wherever the folder is. */
import { InputError } from "../core/errors.ts";
import { readFolderText } from "../core/folder-text.ts";
import type { FolderReader } from "../core/ports.ts";
import { loadTokenizer, type Tokenizer } from "./tokenizer.ts";

/** What a tokenizer is read from: the first is needed, the others may be missing. */
export const TOKENIZER_FILES = ["tokenizer.json", "tokenizer_config.json", "chat_template.jinja"] as const;

/** Reads the `TOKENIZER_FILES` of a folder. */
export async function openTokenizer(folder: FolderReader): Promise<Tokenizer> {
  const files = await folder.list();
  const read = async (name: string): Promise<string | undefined> =>
    files.includes(name) ? readFolderText(folder, name) : undefined;
  const [tokenizerJson, tokenizerConfigJson, chatTemplate] = await Promise.all(TOKENIZER_FILES.map(read));
  if (tokenizerJson === undefined) {
    throw new InputError("no tokenizer.json in this folder", { file: folder.name });
  }
  return loadTokenizer({ tokenizerJson, tokenizerConfigJson, chatTemplate, file: folder.name });
}
