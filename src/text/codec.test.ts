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
    const response = codec.responseIds({ response: "go north" }, "alfworld", {});
    expect(codec.decode(response)).toBe("go north<|im_end|>");
    expect(response.at(-1)).toBe(codec.endOfTurnId);
    expect(codec.responseIds({ response: "x", response_ids: [1, 2] }, "alfworld", {})).toEqual([1, 2]);
  });

  it("leaves the end of turn out where it is asked to", () => {
    const without = textCodec(load("tokenizer"), { endOfTurn: false });
    expect(codec.endOfTurn).toBe(true);
    expect(without.endOfTurn).toBe(false);
    expect(codec.responseIds({ response: "go north" }, "alfworld", {})).toEqual([
      ...without.responseIds({ response: "go north" }, "alfworld", {}),
      codec.endOfTurnId,
    ]);
  });

  it("names the decision that carries neither", () => {
    expect(() => codec.responseIds({}, "alfworld", { episode: "e", decision: 3 })).toThrow(
      'episode "e", decisions[3].response',
    );
  });
});
