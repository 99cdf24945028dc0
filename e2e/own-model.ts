/** Model folders as users have them: with a tokenizer of their own. */
import { copyFile, cp, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "./site.ts";

/** That of the sample's models, and of the fixtures'. */
const TOKENIZER = "public/sample/tokenizer";

interface TokenizerJson {
  added_tokens: { id: number; content: string }[];
  model: { vocab: Record<string, number> };
}

/** A fixture's model in a folder of its name below the test's output, with a tokenizer that the caller may change. */
export async function modelFolder(model: string, change?: (json: TokenizerJson) => void): Promise<string> {
  const folder = test.info().outputPath("models", model.split("/").at(-1)!);
  await mkdir(folder, { recursive: true });
  await cp(`test/fixtures/${model}`, folder, { recursive: true });
  await copyFile(join(TOKENIZER, "tokenizer_config.json"), join(folder, "tokenizer_config.json"));
  const json: TokenizerJson = JSON.parse(await readFile(join(TOKENIZER, "tokenizer.json"), "utf8"));
  change?.(json);
  await writeFile(join(folder, "tokenizer.json"), JSON.stringify(json));
  return folder;
}

/** A token that every response has, with an id beyond the vocabulary of the sample's student. */
export function withThoughtToken({ added_tokens }: TokenizerJson): void {
  added_tokens.push({ ...added_tokens.at(-1)!, id: 1872, content: "<thought>" });
}

/** Two tokens of the base vocabulary changed about. */
export function withOtherLetters({ model: { vocab } }: TokenizerJson): void {
  const { G, H } = vocab;
  Object.assign(vocab, { G: H, H: G });
}
