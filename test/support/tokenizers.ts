/** The fixtures' tokenizers, and releases of them that differ in a few tokens. */
import { readFileSync } from "node:fs";
import { loadTokenizer, type Tokenizer, type TokenizerTexts } from "../../src/text/index.ts";
import { modelFixture } from "./golden.ts";

interface TokenizerJson {
  added_tokens: { id: number; content: string; special: boolean }[];
  model: { vocab: Record<string, number> };
}

/** The files of a fixture's tokenizer, with tokenizer.json changed as the caller asks. */
export function tokenizerFiles(
  name: "tokenizer" | "tokenizer-qwen3_5",
  change: (json: TokenizerJson) => void = () => undefined,
  file: string = name,
): TokenizerTexts & { tokenizerConfigJson: string } {
  const read = (part: string) => readFileSync(modelFixture(`${name}/${part}`), "utf8");
  const json = JSON.parse(read("tokenizer.json")) as TokenizerJson;
  change(json);
  return {
    tokenizerJson: JSON.stringify(json),
    tokenizerConfigJson: read("tokenizer_config.json"),
    file,
  };
}

export const loadFixture = (...of: Parameters<typeof tokenizerFiles>): Tokenizer =>
  loadTokenizer(tokenizerFiles(...of));

/** As a next release does: two special tokens more, and other text for one that is there. */
export function nextRelease(json: TokenizerJson): void {
  const last = json.added_tokens.at(-1)!;
  last.content = "</tool_use>";
  for (const content of ["<|vision_start|>", "<|vision_end|>"])
    json.added_tokens.push({ ...last, id: json.added_tokens.at(-1)!.id + 1, content, special: true });
}
