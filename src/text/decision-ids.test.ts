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
  expect(decisionResponseIds({ response_ids: [7], response: "other" }, tokenizer, "alfworld")).toEqual([7]);
});

test("a prompt becomes one user turn, thinking off; a response as it stands, with the end of its turn", () => {
  const prompt = decisionPromptIds({ prompt: "look around" }, tokenizer);
  expect(tokenizer.decode(prompt)).toBe(
    "<|im_start|>user\nlook around<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n",
  );
  const response = { response: "<action>wait</action>" };
  const ids = decisionResponseIds(response, tokenizer, "alfworld");
  expect(tokenizer.decode(ids)).toBe("<action>wait</action><|im_end|>");
  // The numbers of earlier versions.
  expect(decisionResponseIds(response, tokenizer, "alfworld", {}, { endOfTurn: false })).toEqual(
    ids.slice(0, -1),
  );
});

test("the end of a turn that a text spells out is text, and one more token ends it", () => {
  const ids = decisionResponseIds({ response: "wait<|im_end|>" }, tokenizer, "alfworld");
  expect(ids.filter((id) => id === tokenizer.endOfTurnId)).toHaveLength(1);
  expect(tokenizer.decode(ids)).toBe("wait<|im_end|><|im_end|>");
  expect(decisionResponseIds({ response: "" }, tokenizer, "alfworld")).toEqual([tokenizer.endOfTurnId]);
});

test("the number of recorded log-probabilities says whether an end token was drawn", () => {
  const response = "<action>wait</action>";
  const place = { file: "e.jsonl", episode: "e-1", decision: 4 };
  const text = tokenizer.encode(response);
  const read = (count: number) =>
    decisionResponseIds(
      { response, rollout_logprobs: new Array<number>(count).fill(-1) },
      tokenizer,
      "alfworld",
      place,
    );
  expect(read(text.length)).toEqual(text);
  expect(read(text.length + 1)).toEqual([...text, tokenizer.endOfTurnId]);
  for (const count of [0, text.length - 1, text.length + 2]) {
    expect(() => read(count)).toThrow(
      `e.jsonl, episode "e-1", decisions[4].rollout_logprobs: ${count} log-probabilities; expected ${text.length}, ` +
        `one for each token of the response's text, or ${text.length + 1} with the end-of-turn token`,
    );
  }
});

test.each([
  ["alfworld", 512],
  ["webshop", 2048],
])("a response that fills the limit of %s had no room for an end token", (environment, limit) => {
  const of = (tokens: number) => ({ response: " the".repeat(tokens) });
  const { length } = tokenizer.encode(of(limit).response);
  expect(length).toBe(limit);
  expect(decisionResponseIds(of(limit), tokenizer, environment)).toHaveLength(limit);
  expect(decisionResponseIds(of(limit - 1), tokenizer, environment)).toHaveLength(limit);
  expect(decisionResponseIds(of(limit - 1), tokenizer, environment).at(-1)).toBe(tokenizer.endOfTurnId);
  // What was drawn is known where its log-probabilities are.
  const drawn = { ...of(limit), rollout_logprobs: new Array<number>(limit + 1).fill(-1) };
  expect(decisionResponseIds(drawn, tokenizer, environment)).toHaveLength(limit + 1);
});

test("what is missing or from another tokenizer is named", () => {
  const place = { file: "e.jsonl", episode: "e-1", decision: 4 };
  expect(() => decisionPromptIds({}, tokenizer, place)).toThrow(
    'e.jsonl, episode "e-1", decisions[4].prompt: missing; expected `prompt` or `prompt_ids` to score this decision',
  );
  expect(() => decisionResponseIds({}, tokenizer, "alfworld", place)).toThrow(
    "decisions[4].response: missing",
  );
  expect(() => decisionResponseIds({ response_ids: [3, 1866] }, tokenizer, "alfworld", place)).toThrow(
    "decisions[4].response_ids[1]: id 1866 is not one of the tokenizer's 1865",
  );
});
