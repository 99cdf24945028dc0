import { describe, expect, it } from "vitest";
import { loadFixture, nextRelease } from "../../test/support/tokenizers.ts";
import { textCodec } from "./codec.ts";
import { unsharedIds, unsharedNote } from "./same-ids.ts";

const student = loadFixture("tokenizer");
const teacher = loadFixture("tokenizer", nextRelease, "next");

describe("tokenizers that share their base vocabulary", () => {
  it("share every id with themselves", () => {
    const unshared = unsharedIds(student, student);
    expect(unshared.ids.size).toBe(0);
    expect(unsharedNote(unshared)).toBeNull();
  });

  it("may differ in added tokens: those of the reader alone are never written", () => {
    expect([...unsharedIds(teacher, student).ids]).toEqual([1864]);
    expect([...unsharedIds(student, teacher).ids]).toEqual([1864, 1865, 1866]);
    expect(unsharedNote(unsharedIds(student, teacher))).toBe(
      'tokenizer does not have 3 of the added tokens of next (1864 "</tool_use>", 1865 "<|vision_start|>", 1866 "<|vision_end|>"): none is sampled, and text that holds one is refused.',
    );
  });

  it("may spell one token out as text and as bytes", () => {
    // The second is the first in the base vocabulary's alphabet of bytes.
    const spelled = (content: string) =>
      loadFixture("tokenizer", (json) => {
        json.added_tokens.push({ ...json.added_tokens.at(-1)!, id: 1865, content });
      });
    expect(unsharedIds(spelled("日"), spelled("æĹ¥")).ids.size).toBe(0);
    expect([...unsharedIds(spelled("日"), spelled("月")).ids]).toEqual([1865]);
  });

  it("write the same ids for text without the tokens that differ, and refuse the others where they come up", () => {
    const codec = textCodec(student, { unshared: [unsharedIds(teacher, student)] });
    const place = { episode: "e-17", decision: 4 };
    expect(codec.prompt({ prompt: "hello" }, "webshop", place)).toEqual(
      textCodec(student).prompt({ prompt: "hello" }, "webshop", place),
    );
    expect(() => codec.responseIds({ response: "a <tool_call> b </tool_call>" }, "webshop", place)).toThrow(
      /^episode "e-17", decisions\[4\]\.response_ids\[\d+\]: id 1864 is "<\/tool_call>" in tokenizer and "<\/tool_use>" in next: a model of the latter cannot read it$/,
    );
    expect(() => codec.prompt({ prompt_ids: [5, 1864] }, "webshop", place)).toThrow(
      "decisions[4].prompt_ids[1]",
    );
    expect(() => codec.encode("</tool_call>")).toThrow('id 1864 is "</tool_call>" in tokenizer');
  });

  it("sample only tokens that both have", () => {
    expect(textCodec(teacher).drawable).toEqual([[0, 1867]]);
    expect(textCodec(teacher, { unshared: [unsharedIds(student, teacher)] }).drawable).toEqual([[0, 1864]]);
    const holes = loadFixture("tokenizer", (json) => {
      json.added_tokens.push({ ...json.added_tokens.at(-1)!, id: 1870, content: "<far>" });
    });
    expect(textCodec(holes).drawable).toEqual([
      [0, 1865],
      [1870, 1871],
    ]);
  });
});

describe("tokenizers of other vocabularies are refused, with the first ids that differ", () => {
  it("another vocabulary altogether", () => {
    expect(() => unsharedIds(loadFixture("tokenizer-qwen3_5"), student)).toThrow(
      /^tokenizer-qwen3_5: not the token ids of tokenizer: (id \d+ is .* here and .* there; ){3}and \d+ more$/,
    );
  });

  it("one token of the base vocabulary", () => {
    const changed = loadFixture(
      "tokenizer",
      ({ model: { vocab } }) => {
        const [first, last] = [Object.keys(vocab)[0]!, Object.keys(vocab)[5]!];
        [vocab[first], vocab[last]] = [vocab[last]!, vocab[first]!];
      },
      "changed",
    );
    expect(() => unsharedIds(changed, student)).toThrow(
      /^changed: not the token ids of tokenizer: id \d+ is "." here and "." there; id \d+ is "." here and "." there$/,
    );
  });

  it("the token that ends a turn", () => {
    const changed = loadFixture("tokenizer", ({ added_tokens }) => {
      added_tokens[2]!.content = "<|end|>";
    });
    expect(() => unsharedIds(changed, student)).toThrow('id 1862 is "<|end|>" here and "<|im_end|>" there');
  });
});
