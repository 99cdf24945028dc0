import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { FolderReader } from "../core/ports.ts";
import { decisionPromptIds, decisionResponseIds } from "./decision-ids.ts";
import { openTokenizer } from "./folder.ts";

const FOLDER = new URL("../../test/fixtures/models/tokenizer/", import.meta.url);

function reader(files: Record<string, Uint8Array>): FolderReader {
  return {
    name: "folder",
    list: async () => Object.keys(files),
    size: async (file) => files[file]!.length,
    read: async (file, start, end) => files[file]!.subarray(start, end),
  };
}

const tokenizerJson = readFileSync(new URL("tokenizer.json", FOLDER));
const configJson = readFileSync(new URL("tokenizer_config.json", FOLDER));
const tokenizer = await openTokenizer(
  reader({ "tokenizer.json": tokenizerJson, "tokenizer_config.json": configJson }),
);

test("a folder without tokenizer.json, or with one that is not text, is named", async () => {
  await expect(openTokenizer(reader({}))).rejects.toThrow("folder: no tokenizer.json in this folder");
  await expect(openTokenizer(reader({ "tokenizer.json": new Uint8Array([0xff]) }))).rejects.toThrow(
    "folder/tokenizer.json: not valid UTF-8",
  );
});

test("chat_template.jinja comes before the config's template", async () => {
  const own = await openTokenizer(
    reader({
      "tokenizer.json": tokenizerJson,
      "tokenizer_config.json": configJson,
      "chat_template.jinja": new TextEncoder().encode("{{ messages[0].content }}!"),
    }),
  );
  expect(own.applyChatTemplate([{ role: "user", content: "hi" }], { addGenerationPrompt: true })).toBe("hi!");
});

test("recorded ids are taken as they are", () => {
  expect(decisionPromptIds({ prompt_ids: [5, 6], prompt: "other" }, tokenizer)).toEqual([5, 6]);
  expect(decisionResponseIds({ response_ids: [7], response: "other" }, tokenizer)).toEqual([7]);
});

test("a prompt becomes one user turn, thinking off; a response is encoded as it stands", () => {
  const prompt = decisionPromptIds({ prompt: "look around" }, tokenizer);
  expect(tokenizer.decode(prompt)).toBe(
    "<|im_start|>user\nlook around<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n",
  );
  const response = decisionResponseIds({ response: "<action>wait</action>" }, tokenizer);
  expect(tokenizer.decode(response)).toBe("<action>wait</action>");
});

test("what is missing or from another tokenizer is named", () => {
  const place = { file: "e.jsonl", episode: "e-1", decision: 4 };
  expect(() => decisionPromptIds({}, tokenizer, place)).toThrow(
    'e.jsonl, episode "e-1", decisions[4].prompt: missing; expected `prompt` or `prompt_ids` to score this decision',
  );
  expect(() => decisionResponseIds({}, tokenizer, place)).toThrow("decisions[4].response: missing");
  expect(() => decisionResponseIds({ response_ids: [3, 1866] }, tokenizer, place)).toThrow(
    "decisions[4].response_ids[1]: id 1866 is not one of the tokenizer's 1865",
  );
});
