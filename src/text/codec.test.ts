import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { modelFixture } from "../../test/support/golden.ts";
import { textCodec } from "./codec.ts";
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
    expect(codec.prompt({ prompt: "hello", prompt_ids: [1, 2] }, "alfworld", {})).toEqual({
      ids: [1, 2],
      cut: 0,
    });
    const { ids } = codec.prompt({ prompt: "hello" }, "alfworld", {});
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
