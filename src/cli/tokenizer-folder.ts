/** A model folder's tokenizer. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { loadTokenizer, type Tokenizer } from "../text/index.ts";
import { readText } from "./io.ts";

/** Reads tokenizer.json and, where they exist, tokenizer_config.json and chat_template.jinja of a folder. */
export async function readTokenizerFolder(folder: string): Promise<Tokenizer> {
  const optional = (name: string) =>
    existsSync(join(folder, name)) ? readText(join(folder, name)) : Promise.resolve(undefined);
  const [tokenizerJson, tokenizerConfigJson, chatTemplate] = await Promise.all([
    readText(join(folder, "tokenizer.json")),
    optional("tokenizer_config.json"),
    optional("chat_template.jinja"),
  ]);
  return loadTokenizer({ tokenizerJson, tokenizerConfigJson, chatTemplate, file: folder });
}
