import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { modelFixture } from "../../test/support/golden.ts";
import { checkSameTokenizer, textCodec } from "./codec.ts";
import { loadTokenizer, type Tokenizer } from "./tokenizer.ts";

function load(name: string, change: (json: string) => string = (json) => json): Tokenizer {
  const read = (file: string) => readFileSync(modelFixture(`${name}/${file}`), "utf8");
  return loadTokenizer({
    tokenizerJson: change(read("tokenizer.json")),
    tokenizerConfigJson: read("tokenizer_config.json"),
    file: name,
  });
}

describe("text codec", () => {
  const codec = textCodec(load("tokenizer"));

  it("takes recorded ids as they are and encodes texts otherwise", () => {
    expect(codec.promptIds({ prompt: "hello", prompt_ids: [1, 2] }, {})).toEqual([1, 2]);
    const ids = codec.promptIds({ prompt: "hello" }, {});
    expect(codec.decode(ids)).toContain("<|im_start|>user\nhello<|im_end|>");
    expect(ids.lastIndexOf(codec.endOfTurnId)).toBeGreaterThan(0);
    expect(codec.decode(codec.responseIds({ response: "go north" }, {}))).toBe("go north");
  });

  it("names the decision that carries neither", () => {
    expect(() => codec.responseIds({}, { episode: "e", decision: 3 })).toThrow(
      'episode "e", decisions[3].response',
    );
  });
});

describe("tokenizers of teacher and student", () => {
  it("agree with themselves", () => {
    expect(() => checkSameTokenizer(load("tokenizer"), load("tokenizer"))).not.toThrow();
  });

  it("differ: the first id is named", () => {
    expect(() => checkSameTokenizer(load("tokenizer-qwen3_5"), load("tokenizer"))).toThrow(
      /^tokenizer-qwen3_5: not the student's tokenizer \(tokenizer\): id \d+ is .* here and .* there$/,
    );
    const renamed = load("tokenizer", (json) => json.replaceAll('"</tool_call>"', '"</tool_gone>"'));
    expect(() => checkSameTokenizer(renamed, load("tokenizer"))).toThrow(
      'id 1864 is "</tool_gone>" here and "</tool_call>" there',
    );
  });
});
