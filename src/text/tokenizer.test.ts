import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import fc from "../../test/support/property.ts";
import { scanUtf8 } from "./byte-level.ts";
import { spellOutCase } from "./pattern.ts";
import { checkTokenizerFits, loadTokenizer } from "./tokenizer.ts";

const FOLDER = new URL("../../test/fixtures/models/", import.meta.url);

function text(path: string): string {
  return readFileSync(new URL(path, FOLDER), "utf8");
}

function rows<T>(path: string): T[] {
  return text(path)
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as T);
}

function load(name: string) {
  return loadTokenizer({
    tokenizerJson: text(`${name}/tokenizer.json`),
    tokenizerConfigJson: text(`${name}/tokenizer_config.json`),
    file: name,
  });
}

const qwen3 = load("tokenizer");

interface TextCase {
  text: string;
  ids: number[];
  decoded: string;
  decoded_skip_special?: string;
}

describe.each([
  ["tokenizer", 351],
  ["tokenizer-qwen3_5", 87],
])("%s", (name, count) => {
  const tokenizer = load(name);
  const cases = rows<TextCase>(`${name}/tokenizer-cases.jsonl`);

  test("every case encodes and decodes to what the reference gives", () => {
    expect(cases).toHaveLength(count);
    for (const { text, ids, decoded, decoded_skip_special } of cases) {
      expect(tokenizer.encode(text)).toEqual(ids);
      expect(tokenizer.decode(ids)).toBe(decoded);
      expect(tokenizer.decode(ids, { skipSpecial: true })).toBe(decoded_skip_special ?? decoded);
    }
  });
});

test("any ids decode to what the reference gives, broken UTF-8 included", () => {
  const cases = rows<{ ids: number[]; decoded: string; decoded_skip_special: string }>(
    "tokenizer/decode-cases.jsonl",
  );
  expect(cases).toHaveLength(51);
  for (const { ids, decoded, decoded_skip_special } of cases) {
    expect(qwen3.decode(ids)).toBe(decoded);
    expect(qwen3.decode(ids, { skipSpecial: true })).toBe(decoded_skip_special);
  }
});

test("the chat template gives the reference's text and ids", () => {
  const cases = rows<{
    messages: { role: "user"; content: string }[];
    add_generation_prompt: boolean;
    enable_thinking?: boolean;
    text: string;
    ids: number[];
  }>("tokenizer/chat-cases.jsonl");
  expect(cases).toHaveLength(30);
  for (const { messages, add_generation_prompt, enable_thinking, text, ids } of cases) {
    const options = { addGenerationPrompt: add_generation_prompt, enableThinking: enable_thinking };
    expect(qwen3.applyChatTemplate(messages, options)).toBe(text);
    expect(qwen3.encode(text)).toEqual(ids);
  }
});

test("vocabulary facts", () => {
  expect(qwen3.vocabularySize).toBe(1865);
  expect(qwen3.endOfTurnId).toBe(1862);
  expect(qwen3.idOf("<|im_end|>")).toBe(1862);
  expect(qwen3.idOf("no such token")).toBeUndefined();
  expect(qwen3.isSpecial(1862)).toBe(true);
  expect(qwen3.isSpecial(1863)).toBe(false);
  expect(qwen3.hasToken(1865)).toBe(false);
});

test("composed text survives the round trip", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 60 }), (value) => {
      const composed = value.normalize("NFC");
      expect(qwen3.decode(qwen3.encode(composed))).toBe(composed);
    }),
  );
});

describe("pieces and spans", () => {
  test("a character in several tokens shows as bytes, whole ones as text", () => {
    const ids = qwen3.encode("open ☃<|im_end|>");
    const pieces = qwen3.pieces(ids);
    expect(pieces.filter((piece) => piece.partial).length).toBeGreaterThan(1);
    expect(
      pieces
        .filter((piece) => piece.partial)
        .map((piece) => piece.text)
        .join(""),
    ).toContain("<0xE2>");
    expect(pieces.at(-1)).toEqual({ id: 1862, text: "<|im_end|>", partial: false, special: true });
    expect(qwen3.pieces([1870])).toEqual([{ id: 1870, text: "<id 1870>", partial: true, special: false }]);
  });

  test("pieces of whole characters concatenate to the text, and spans cut it into them", () => {
    const ids = qwen3.encode("You move to the kitchen.\n\tA door (that is open)");
    const whole = qwen3.decode(ids);
    expect(
      qwen3
        .pieces(ids)
        .map((piece) => piece.text)
        .join(""),
    ).toBe(whole);
    expect(qwen3.spans(ids).map(({ start, end }) => whole.slice(start, end))).toEqual(
      qwen3.pieces(ids).map((piece) => piece.text),
    );
  });

  test("spans of any ids cover the decoded text in order; whole tokens keep their text", () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 1869 }), { maxLength: 40 }), (ids) => {
        const whole = qwen3.decode(ids);
        const spans = qwen3.spans(ids);
        const pieces = qwen3.pieces(ids);
        expect(spans).toHaveLength(ids.length);
        let covered = 0;
        spans.forEach(({ start, end }, index) => {
          expect(start).toBeLessThanOrEqual(covered);
          expect(end).toBeGreaterThanOrEqual(covered);
          covered = end;
          if (!pieces[index]!.partial) expect(whole.slice(start, end)).toContain(pieces[index]!.text);
        });
        expect(covered).toBe(whole.length);
      }),
    );
  });

  test("bytes are cut into characters as TextDecoder does", () => {
    const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
    const byte = fc.oneof(
      fc.nat({ max: 255 }),
      fc.constantFrom(0xe2, 0x98, 0xf0, 0x9f, 0xed, 0xa0, 0xc0, 0xf4, 0x8f),
    );
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 30 }), fc.array(byte, { maxLength: 30 }), (random, pointed) => {
        for (const bytes of [random, Uint8Array.from(pointed)]) {
          const ours = [...scanUtf8(bytes)]
            .map(({ codePoint }) => (codePoint === null ? "\ufffd" : String.fromCodePoint(codePoint)))
            .join("");
          expect(ours).toBe(decoder.decode(bytes));
        }
      }),
      { numRuns: 500 },
    );
  });
});

describe("case-insensitive groups", () => {
  test("are spelled out with the letters that fold to them", () => {
    expect(spellOutCase("(?i:'s|'k)|\\p{L}+")).toBe("(?:'[sS\u017f]|'[kK\u212a])|\\p{L}+");
  });

  test("are left alone when they hold more than literals", () => {
    expect(spellOutCase("(?i:a+)|(?i:\\d)")).toBe("(?i:a+)|(?i:\\d)");
  });
});

describe("bad tokenizers", () => {
  const good = JSON.parse(text("tokenizer/tokenizer.json")) as Record<string, never>;
  const loadWith = (change: (json: Record<string, Record<string, unknown>>) => void) => () => {
    const json = structuredClone(good) as Record<string, Record<string, unknown>>;
    change(json);
    return loadTokenizer({ tokenizerJson: JSON.stringify(json), file: "folder" });
  };

  test.each<[string, () => unknown, string]>([
    [
      "not JSON",
      () => loadTokenizer({ tokenizerJson: "{", file: "folder" }),
      "folder/tokenizer.json: not JSON: ",
    ],
    [
      "no model",
      loadWith((json) => delete json.model),
      "folder/tokenizer.json, model: missing; expected object",
    ],
    [
      "another model",
      loadWith((json) => {
        json.model!.type = "WordPiece";
      }),
      'folder/tokenizer.json, model.type: expected a byte-level BPE tokenizer, received model type "WordPiece"',
    ],
    [
      "no byte level",
      loadWith((json) => {
        json.decoder!.type = "Metaspace";
      }),
      'folder/tokenizer.json, decoder: expected a byte-level BPE tokenizer, received type "Metaspace"',
    ],
    [
      "an id that is text",
      loadWith((json) => {
        (json.model!.vocab as Record<string, unknown>)["!"] = "0";
      }),
      'folder/tokenizer.json, model.vocab["!"]: expected a token id, received "0"',
    ],
    [
      "an id twice",
      loadWith((json) => {
        (json.model!.vocab as Record<string, unknown>)["#"] = 0;
      }),
      'folder/tokenizer.json, model.vocab["#"]: id 0 is already that of "!"',
    ],
    [
      "a merge of unknown tokens",
      loadWith((json) => {
        (json.model!.merges as unknown[])[0] = "t ☃";
      }),
      'folder/tokenizer.json, model.merges[0]: "☃" is not in the vocabulary',
    ],
    [
      "a merge that is not a pair",
      loadWith((json) => {
        (json.model!.merges as unknown[])[1] = 7;
      }),
      'folder/tokenizer.json, model.merges[1]: expected "a b" or ["a", "b"], received 7',
    ],
    [
      "an added token on a taken id",
      loadWith((json) => {
        (json.added_tokens as unknown as { id: number }[])[0]!.id = 5;
      }),
      'folder/tokenizer.json, added_tokens[0]: id 5 is already that of "&"',
    ],
    [
      "a template that is not one",
      () =>
        loadTokenizer({
          tokenizerJson: JSON.stringify(good),
          tokenizerConfigJson: JSON.stringify({ chat_template: "{% for %}" }),
          file: "folder",
        }),
      "folder/tokenizer_config.json, chat_template: not a template: ",
    ],
  ])("%s", (_name, run, message) => {
    expect(run).toThrow(message);
  });

  test("no chat template is an error when one is asked for", () => {
    const tokenizer = loadTokenizer({ tokenizerJson: JSON.stringify(good), file: "folder" });
    expect(() => tokenizer.applyChatTemplate([], { addGenerationPrompt: true })).toThrow(
      "folder/tokenizer_config.json, chat_template: missing",
    );
  });

  test("a tokenizer with more ids than the model has rows does not fit", () => {
    expect(() => checkTokenizerFits(qwen3, { name: "tiny", vocabulary: 1865 })).not.toThrow();
    expect(() => checkTokenizerFits(qwen3, { name: "tiny", vocabulary: 1864 })).toThrow(
      "tokenizer: the tokenizer does not fit the model: it has ids up to 1864, and tiny has 1864 vocabulary rows",
    );
  });
});
