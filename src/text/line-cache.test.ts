/** Encoding by lines against encoding in one piece, by the library itself. */
import { readFileSync } from "node:fs";
import { Tokenizer as LibraryTokenizer } from "@huggingface/tokenizers";
import { describe, expect, it } from "vitest";
import fc from "../../test/support/property.ts";
import { LineCache } from "./line-cache.ts";
import { loadTokenizer } from "./tokenizer.ts";
import { readTokenizerFile } from "./tokenizer-file.ts";

const read = (folder: string) => readFileSync(`test/fixtures/models/${folder}/tokenizer.json`, "utf8");

describe.each(["tokenizer", "tokenizer-qwen3_5"])("%s", (folder) => {
  const json = read(folder);
  const file = readTokenizerFile(json, folder);
  const whole = new LibraryTokenizer(file.json, {});
  const plain = new LibraryTokenizer(
    { ...file.json, added_tokens: file.added.filter((token) => !token.special) },
    {},
  );
  const special = new Set(file.added.filter((token) => token.special).map(({ id }) => id));
  const inOnePiece = (text: string, how: { special: boolean }): number[] => {
    if (text === "") return [];
    const { ids } = whole.encode(text, { add_special_tokens: false });
    if (how.special || !ids.some((id) => special.has(id))) return ids;
    return plain.encode(text, { add_special_tokens: false }).ids;
  };

  it("gives the ids of the text in one piece, whatever stands around its line feeds", () => {
    expect(file.lineByLine).toBe(true);
    const tokenizer = loadTokenizer({ tokenizerJson: json, file: folder });
    // Everything that the pattern, the normalizer and the added tokens treat in a way of their own, next to line feeds.
    const part = fc.oneof(
      fc.constantFrom(
        "\n",
        "\n",
        "\n",
        "\r",
        "\r\n",
        " ",
        "  ",
        "\t",
        "\u00a0",
        "\u2028",
        "\u0085",
        "\u001c",
      ),
      fc.constantFrom("a", "Word", "'s", "'S", "'\u017f", "é", "e\u0301", "\u0301", "\u0338", "7", "12", "½"),
      fc.constantFrom(".", "!", "...", "=", "~", "\u212b", "가", "각", "\u11a8", "😀", "\ud83d", "\u200d"),
      fc.constantFrom(...file.added.map(({ content }) => content), "<|im_", "end|>", "<tool_call"),
      fc.string({ unit: "binary", maxLength: 3 }),
    );
    const text = fc.array(part, { maxLength: 24 }).map((parts) => parts.join(""));
    fc.assert(
      fc.property(text, fc.boolean(), (text, special) => {
        const expected = inOnePiece(text, { special });
        expect(tokenizer.encode(text, { special })).toEqual(expected);
        expect(tokenizer.count(text, { special })).toBe(expected.length);
      }),
      { numRuns: 4_000 },
    );
  });

  it("is not cut at lines when anything of it could reach over them", () => {
    const changed = (change: (json: Record<string, unknown>) => void) => {
      const copy = JSON.parse(json) as Record<string, unknown>;
      change(copy);
      return readTokenizerFile(JSON.stringify(copy), folder).lineByLine;
    };
    type Split = { pattern: { Regex: string }; invert: boolean; behavior: string };
    const split = (json: Record<string, unknown>) =>
      (json.pre_tokenizer as { pretokenizers: [Split, { add_prefix_space: boolean }] }).pretokenizers[0];
    expect(changed(() => undefined)).toBe(true);
    expect(changed((json) => Object.assign(json, { normalizer: { type: "NFKC" } }))).toBe(false);
    expect(changed((json) => (split(json).pattern.Regex += "|x"))).toBe(false);
    expect(changed((json) => Object.assign(split(json), { invert: true }))).toBe(false);
    expect(changed((json) => Object.assign(split(json), { behavior: "MergedWithNext" }))).toBe(false);
    for (const flag of ["lstrip", "rstrip", "single_word"]) {
      expect(changed((json) => Object.assign((json.added_tokens as object[])[0]!, { [flag]: true }))).toBe(
        false,
      );
    }
  });
});

describe("the cache", () => {
  it("encodes each stretch once, hands out arrays of the caller's own, and forgets before it grows large", () => {
    const asked: string[] = [];
    const cache = new LineCache((text) => {
      asked.push(text);
      return [text.length];
    });
    const ids = cache.encode("ab\nc\n\td\nab\n");
    expect(ids).toEqual([3, 5, 3]);
    expect(asked).toEqual(["ab\n", "c\n\td\n"]);
    ids[0] = 99;
    expect(cache.encode("ab\n")).toEqual([3]);
    expect(cache.count("ab\nab\nab\n")).toBe(3);
    expect([cache.encode(""), cache.count("")]).toEqual([[], 0]);
    expect(asked).toHaveLength(2);
    cache.count("x".repeat(1 << 22));
    cache.count("ab\n");
    expect(asked.at(-1)).toBe("ab\n");
  });
});
