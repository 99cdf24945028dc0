/** Files made to take a machine down: each is refused in one clear line, before it has taken the memory it asks for. */
import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { zipSync } from "fflate";
import { describe, expect, it } from "vitest";
import { modelFolders } from "../src/app/data/files/model-folder.ts";
import { unpackZip } from "../src/app/data/files/zip-archive.ts";
import { InputError } from "../src/core/errors.ts";
import { LARGEST_TEXT, readFolderText } from "../src/core/folder-text.ts";
import { listHubFiles, parseHubName } from "../src/engine/hub/hub-client.ts";
import { gunzip } from "../src/formats/gunzip.ts";
import { memoryFiles } from "../src/formats/import/files.ts";
import { LARGEST_DOCUMENT, readBytes } from "../src/formats/import/foreign-json.ts";
import { LONGEST_LINE } from "../src/formats/lines.ts";
import { readObjects } from "../src/formats/read.ts";
import { parseModelConfig } from "../src/tensor/config.ts";
import { readModelHeader } from "../src/tensor/model-header.ts";
import { readSafetensorsHeader } from "../src/tensor/safetensors.ts";
import { loadTokenizer } from "../src/text/tokenizer.ts";
import { MemoryFolder, safetensorsBytes } from "./memory-folder.ts";
import { modelFixture } from "./support/golden.ts";

const MEBIBYTE = 2 ** 20;

/** The one line that refuses; fails where nothing does. */
async function refused(work: () => unknown): Promise<string> {
  try {
    await work();
  } catch (error) {
    expect(error).toBeInstanceOf(InputError);
    return (error as InputError).message;
  }
  throw new Error("was taken");
}

async function drain(items: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of items);
}

/** The same chunk over and over, counted: what is refused in time leaves most of it. */
function endless(chunk: Uint8Array): { chunks: AsyncIterable<Uint8Array>; taken: () => number } {
  let taken = 0;
  async function* chunks() {
    for (;;) {
      taken += chunk.length;
      yield chunk;
    }
  }
  return { chunks: chunks(), taken: () => taken };
}

describe("lines and documents", () => {
  it("a line without an end", async () => {
    const { chunks, taken } = endless(new Uint8Array(MEBIBYTE).fill(0x61));
    expect(await refused(() => drain(readObjects(chunks, { file: "a.jsonl" })))).toBe(
      "a.jsonl, line 1: longer than 128 MiB, the most that one line may have",
    );
    expect(taken()).toBeLessThanOrEqual(LONGEST_LINE + 2 * MEBIBYTE);
  });

  it("a gzip of one endless line", async () => {
    const { chunks, taken } = endless(gzipSync(new Uint8Array(MEBIBYTE).fill(0x61)));
    expect(await refused(() => drain(readObjects(chunks, { file: "a.jsonl.gz" })))).toBe(
      "a.jsonl.gz, line 1: longer than 128 MiB, the most that one line may have",
    );
    expect(taken()).toBeLessThan(MEBIBYTE);
  });

  it("a gzip that unpacks to a thousand times its size", async () => {
    const { chunks } = endless(gzipSync(new Uint8Array(4 * MEBIBYTE)));
    expect(await refused(() => drain(gunzip(chunks, "a.gz")))).toBe(
      "a.gz: unpacks to more than 500 times its size, which no recording does; unpack it first if it is one",
    );
  });

  it("a document without an end", async () => {
    const { chunks, taken } = endless(new Uint8Array(MEBIBYTE));
    const files = { ...memoryFiles({}), open: () => chunks };
    expect(await refused(() => readBytes(files, "a.json"))).toBe(
      "a.json: larger than 256 MiB, the most that is read as one document; use JSON Lines",
    );
    expect(taken()).toBeLessThanOrEqual(LARGEST_DOCUMENT + 2 * MEBIBYTE);
  });
});

/** A folder whose one file says that it is larger than it is, and must not be read. */
function unreadable(size: number) {
  const read = (): never => {
    throw new Error("was read");
  };
  return { name: "m", list: async () => ["x"], size: async () => size, read };
}

const CONFIG = {
  model_type: "qwen3",
  vocab_size: 8,
  hidden_size: 4,
  intermediate_size: 8,
  num_hidden_layers: 1,
  num_attention_heads: 2,
  num_key_value_heads: 1,
  head_dim: 2,
  rms_norm_eps: 1e-6,
  tie_word_embeddings: true,
  max_position_embeddings: 64,
  rope_theta: 10000,
};

describe("models", () => {
  it.each([
    ["num_hidden_layers", 1024],
    ["hidden_size", 2 ** 18],
    ["intermediate_size", 2 ** 20],
    ["vocab_size", 2 ** 22],
    ["num_attention_heads", 4096],
    ["num_key_value_heads", 4096],
    ["head_dim", 8192],
    ["max_position_embeddings", 2 ** 27],
  ])("a config.json with %s of a billion", async (key, most) => {
    const text = JSON.stringify({ ...CONFIG, [key]: 1e9 });
    expect(await refused(() => parseModelConfig(text, "m/config.json"))).toBe(
      `m/config.json, ${key}: expected at most ${most}, got 1000000000`,
    );
  });

  it("a config.json whose tensors are not there", async () => {
    const folder = new MemoryFolder("m", {
      "config.json": new TextEncoder().encode(JSON.stringify({ ...CONFIG, num_hidden_layers: 1000 })),
      "model.safetensors": safetensorsBytes({}, new Uint8Array(0)),
    });
    expect(await refused(() => readModelHeader(folder))).toBe(
      "m/model.safetensors, model.embed_tokens.weight: this tensor is missing",
    );
  });

  it("a header of a million empty tensors", async () => {
    const empty = JSON.stringify({ dtype: "F32", shape: [0], data_offsets: [0, 0] });
    const names = Array.from({ length: 250_001 }, (_, n) => `"${n.toString(36)}":${empty}`);
    const header = new TextEncoder().encode(`{${names.join(",")}}`);
    const file = new Uint8Array(8 + header.length);
    new DataView(file.buffer).setBigUint64(0, BigInt(header.length), true);
    file.set(header, 8);
    const folder = new MemoryFolder("m", { "x.safetensors": file });
    expect(await refused(() => readSafetensorsHeader(folder, "x.safetensors"))).toBe(
      "m/x.safetensors: holds 250001 tensors, a model has at most 250000",
    );
  });

  it("a header that would be parsed for minutes", async () => {
    const length = 33 * MEBIBYTE;
    const prefix = new Uint8Array(8);
    new DataView(prefix.buffer).setBigUint64(0, BigInt(length), true);
    const folder = { ...unreadable(8 + length), read: async () => prefix };
    expect(await refused(() => readSafetensorsHeader(folder, "x"))).toBe(
      `m/x: a header of ${length} bytes, the most that is read is 32 MiB`,
    );
  });

  it("a text file of gigabytes", async () => {
    expect(await refused(() => readFolderText(unreadable(LARGEST_TEXT + 1), "x"))).toBe(
      "m/x: larger than 64 MiB, the most that it may have",
    );
  });
});

describe("tokenizers", () => {
  interface Parts {
    [key: string]: unknown;
    added_tokens: object[];
    model: Record<string, unknown> & { vocab: Record<string, number>; merges: unknown[] };
  }
  const TOKENIZER = readFileSync(modelFixture("tokenizer/tokenizer.json"), "utf8");
  const load = (change: (file: Parts) => void, config?: object) => {
    const file = JSON.parse(TOKENIZER) as Parts;
    change(file);
    return loadTokenizer({
      tokenizerJson: JSON.stringify(file),
      file: "m",
      ...(config === undefined ? {} : { tokenizerConfigJson: JSON.stringify(config) }),
    });
  };
  const grow = { type: "Replace", pattern: { String: "a" }, content: "a".repeat(100) };
  const split = (regex: string) => ({
    type: "Sequence",
    pretokenizers: [
      { type: "Split", pattern: { Regex: regex }, behavior: "Isolated" },
      { type: "ByteLevel" },
    ],
  });
  const nested = (depth: number): object =>
    depth === 0 ? { type: "NFC" } : { type: "Sequence", normalizers: [nested(depth - 1)] };

  it.each<[string, (file: Parts) => void, string]>([
    [
      "a pattern that hangs",
      (file) => Object.assign(file, { pre_tokenizer: split("(a+)+$") }),
      "m/tokenizer.json, pre_tokenizer.pretokenizers[0].pattern.Regex: a pattern that could take hours: it repeats a part without a bound before one that may fail",
    ],
    [
      "a pattern that hangs beside an empty list of another kind",
      (file) => Object.assign(file, { pre_tokenizer: { ...split("(a+)+$"), normalizers: [] } }),
      "m/tokenizer.json, pre_tokenizer.pretokenizers[0].pattern.Regex: a pattern that could take hours",
    ],
    [
      "a pattern that would lose the text",
      (file) =>
        Object.assign(file, {
          pre_tokenizer: { ...split("a"), pretokenizers: [{ type: "Split", pattern: {} }] },
        }),
      "m/tokenizer.json, pre_tokenizer.pretokenizers[0].pattern: expected a Regex or a String",
    ],
    [
      "nested Replace normalizers",
      (file) => Object.assign(file, { normalizer: { type: "Sequence", normalizers: Array(9).fill(grow) } }),
      'm/tokenizer.json, normalizer.normalizers[0].type: expected one of Sequence, NFC, NFD, NFKC, NFKD, Lowercase, StripAccents, Strip, received "Replace"',
    ],
    [
      "normalizers inside each other without an end",
      (file) => Object.assign(file, { normalizer: nested(40) }),
      "m/tokenizer.json, normalizer: has more than 32 parts",
    ],
    [
      "a pre-tokenizer that replaces",
      (file) =>
        Object.assign(file, {
          pre_tokenizer: { type: "Sequence", pretokenizers: [grow, { type: "ByteLevel" }] },
        }),
      "m/tokenizer.json, pre_tokenizer.pretokenizers[0].type: expected one of",
    ],
    [
      "a suffix on every word",
      (file) => Object.assign(file.model, { end_of_word_suffix: "a".repeat(1000) }),
      "m/tokenizer.json, model.end_of_word_suffix: byte-level tokens have none: expected null",
    ],
    [
      "half a million merges",
      (file) => Object.assign(file.model, { merges: Array<string>(2 ** 19 + 1).fill("a b") }),
      "merges, at most 524288 are taken",
    ],
    [
      "an added token of a thousand characters",
      (file) => file.added_tokens.push({ id: 1870, content: "a".repeat(1000), special: false }),
      ".content: 1000 characters, at most 512 are taken",
    ],
    [
      "added tokens of a million characters",
      (file) =>
        file.added_tokens.push(
          ...Array.from({ length: 2100 }, (_, n) => ({
            id: 1870 + n,
            content: `${n}`.padStart(500, "x"),
            special: false,
          })),
        ),
      "m/tokenizer.json, added_tokens: 1050",
    ],
  ])("%s", async (_name, change, message) => {
    expect(await refused(() => load(change))).toContain(message);
  });

  it("a post-processor that repeats the text is not asked", () => {
    const single = Array<object>(1000).fill({ Sequence: { id: "A", type_id: 0 } });
    const post_processor = { type: "TemplateProcessing", single, pair: single, special_tokens: {} };
    expect(load((file) => Object.assign(file, { post_processor })).encode("look")).toEqual(
      load(() => {}).encode("look"),
    );
  });

  it("a text of four million characters", async () => {
    const tokenizer = load(() => {});
    expect(await refused(() => tokenizer.encode("a".repeat(2 ** 24 + 1)))).toBe(
      "m: a text of 16777217 characters, at most 16777216 are encoded at once",
    );
  });

  it("a chat template that counts to a billion", async () => {
    const tokenizer = load(() => {}, { chat_template: "{% for i in range(1000000000) %}x{% endfor %}" });
    const render = () =>
      tokenizer.applyChatTemplate([{ role: "user", content: "x" }], { addGenerationPrompt: true });
    expect(await refused(render)).toBe(
      "m/tokenizer_config.json, chat_template: the template refuses these messages: range() of more than 10000 elements",
    );
  });
});

describe("archives", () => {
  const open = (bytes: Uint8Array) =>
    modelFolders([{ path: "a.zip", file: new Blob([bytes as Uint8Array<ArrayBuffer>]) }], unpackZip);

  it("a zip of a few kilobytes that unpacks to hundreds of megabytes", async () => {
    // The sizes that its entries announce: nothing of it is unpacked.
    const bytes = zipSync({ "m/config.json": new Uint8Array(MEBIBYTE) });
    const view = new DataView(bytes.buffer);
    for (let at = 0; at + 4 < bytes.length; at++)
      if (view.getUint32(at, true) === 0x02014b50) view.setUint32(at + 24, 3.5e9, true);
    expect(await refused(() => open(bytes))).toBe(
      "a.zip: unpacks to 3500000000 bytes, more than 20 times its size, which no model does",
    );
  });

  it("a zip that unpacks to more than it announces", async () => {
    const bytes = zipSync({ "m/config.json": new Uint8Array(MEBIBYTE) });
    const view = new DataView(bytes.buffer);
    for (let at = 0; at + 4 < bytes.length; at++)
      if (view.getUint32(at, true) === 0x02014b50) view.setUint32(at + 24, 3, true);
    const [folder] = await open(bytes);
    expect(folder?.files.get("config.json")?.size).toBe(3);
  });

  it("a zip of ten thousand files", async () => {
    const files = Array.from({ length: 10_001 }, (_, n) => [`m/${n}`, new Uint8Array(0)] as const);
    expect(await refused(() => open(zipSync(Object.fromEntries(files), { level: 0 })))).toBe(
      "a.zip: holds more than 10000 entries, the most that a model folder has",
    );
  });
});

describe("a hub", () => {
  const list = (answer: Response) =>
    listHubFiles(parseHubName("hub:owner/model")!, { fetch: async () => answer });

  it("that lists without an end", async () => {
    let sent = 0;
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        sent += MEBIBYTE;
        controller.enqueue(new Uint8Array(MEBIBYTE).fill(0x20));
      },
    });
    expect(await refused(() => list(new Response(body)))).toBe(
      "hub:owner/model: the hub's answer is larger than 16 MiB, the most that a listing may have",
    );
    expect(sent).toBeLessThanOrEqual(20 * MEBIBYTE);
  });

  it("that names ten thousand files of weights", async () => {
    const siblings = Array.from({ length: 10_001 }, (_, n) => ({ rfilename: `${n}.safetensors`, size: 1 }));
    const answer = Response.json({ sha: "0123456789abcdef", siblings });
    expect(await refused(() => list(answer))).toBe(
      "hub:owner/model: has 10001 files, a model has at most 10000",
    );
  });

  it("whose names lead out of the folder on Windows", async () => {
    const names = ["..\\..\\x.safetensors", "C:x.safetensors", "../x.safetensors", "x.safetensors"];
    const siblings = ["config.json", ...names].map((rfilename) => ({ rfilename, size: 1 }));
    const { files } = await listHubFiles(parseHubName("hub:owner/model")!, {
      fetch: async () => Response.json({ sha: "0123456789abcdef", siblings }),
    });
    expect(files.map(({ name }) => name)).toEqual(["config.json", "x.safetensors"]);
  });
});
