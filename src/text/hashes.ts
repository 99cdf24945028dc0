/** Names for tokenizer files by what is in them, so that figures can say exactly what they were made with. */
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";
import { DEEPEST_OF_MODELS, parseJsonText } from "../core/json.ts";
import { chatTemplateText, checkConfig } from "./chat-template.ts";
import type { TokenizerTexts } from "./tokenizer.ts";

export interface TokenizerHashes {
  /** SHA-256 of tokenizer.json as it is on the disk, in hexadecimal: what `sha256sum` prints. */
  tokenizer: string;
  /** SHA-256 of the chat template that is used, as UTF-8; null where there is none. */
  template: string | null;
}

/** Hashes of the files that a tokenizer is made of. Throws `InputError` where tokenizer_config.json cannot be read. */
export function hashTokenizer({
  tokenizerJson,
  tokenizerConfigJson,
  chatTemplate,
  file,
}: TokenizerTexts): TokenizerHashes {
  const name = `${file}/tokenizer_config.json`;
  const config = checkConfig(
    tokenizerConfigJson === undefined
      ? {}
      : parseJsonText(tokenizerConfigJson, { file: name }, DEEPEST_OF_MODELS),
    name,
  );
  const template = chatTemplateText(config, chatTemplate);
  return { tokenizer: hash(tokenizerJson), template: template === undefined ? null : hash(template) };
}

function hash(text: string): string {
  return bytesToHex(sha256(utf8ToBytes(text)));
}
