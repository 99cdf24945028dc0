/** The parts of models that are fuzzed: config and weights, tokenizer, chat template, archive and a hub's listing. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { zipSync } from "fflate";
import { modelFolders, tokenizerTexts } from "../../src/app/data/files/model-folder.ts";
import { unpackZip } from "../../src/app/data/files/zip-archive.ts";
import { listHubFiles, parseHubName } from "../../src/engine/hub/hub-client.ts";
import { parseModelConfig } from "../../src/tensor/config.ts";
import { readModelHeader } from "../../src/tensor/model-header.ts";
import { writeSafetensors } from "../../src/tensor/safetensors.ts";
import { elements } from "../../src/tensor/shapes.ts";
import { parameterShapes } from "../../src/tensor/weights.ts";
import { loadTokenizer, type Tokenizer } from "../../src/text/tokenizer.ts";
import { MemoryFolder } from "../memory-folder.ts";
import { damageModelFile } from "./mutate-model.ts";
import type { Files, Target } from "./targets.ts";

/** Runs of what patterns and merges repeat, and some of everything else. */
const TEXT = `${"a".repeat(20_000)} ${" ".repeat(20_000)}x${"\n".repeat(5000)}${"'s1é中<|im_end|>".repeat(500)}`;

const MESSAGES = [
  { role: "user", content: "a".repeat(2000) },
  { role: "assistant", content: "<think>\nb\n</think>\n\nc" },
  { role: "user", content: "d" },
] as const;

function exercise(tokenizer: Tokenizer): void {
  tokenizer.decode(tokenizer.encode(TEXT));
  tokenizer.applyChatTemplate(MESSAGES, { addGenerationPrompt: true, enableThinking: false });
}

/** A small model of a fixture's architecture, its weights all zero. */
async function tinyModel(configJson: string): Promise<Files> {
  const shapes = [...parameterShapes(parseModelConfig(configJson, "config.json"))];
  const folder = new MemoryFolder("m", { "config.json": configJson });
  await folder.write(
    "model.safetensors",
    writeSafetensors(
      shapes.map(([name, shape]) => ({ name, dtype: "F32", shape })),
      (index) => [new Uint8Array(4 * elements(shapes[index]![1]))],
    ),
  );
  return Object.fromEntries(folder.files);
}

/** Makes all targets. `root`: test/fixtures of the repository. */
export async function makeModelTargets(root: string): Promise<Target[]> {
  const read = (name: string) => readFileSync(join(root, "models", name), "utf8");
  const encode = (text: string) => new TextEncoder().encode(text);
  const small = {
    vocab_size: 8,
    hidden_size: 4,
    intermediate_size: 4,
    head_dim: 8,
    linear_key_head_dim: 8,
    linear_value_head_dim: 8,
  };
  const configs = ["qwen3-a", "qwen3_5"].map((name) => {
    const config = JSON.parse(read(`${name}/config.json`)) as { text_config?: object };
    const text = config.text_config;
    return JSON.stringify(
      text === undefined ? { ...config, ...small } : { ...config, text_config: { ...text, ...small } },
    );
  });
  const models = await Promise.all(configs.map(tinyModel));
  const tokenizer = read("tokenizer/tokenizer.json");
  const config = JSON.parse(read("tokenizer/tokenizer_config.json")) as { chat_template: string };
  const tokenizerFiles = {
    "tokenizer.json": encode(tokenizer),
    "tokenizer_config.json": encode(JSON.stringify(config)),
  };
  const archived = Object.entries({ ...models[0], ...tokenizerFiles }).map(([name, bytes]) => [
    `m/${name}`,
    bytes,
  ]);
  const text = (files: Files, name: string) => {
    const bytes = files[name];
    return bytes === undefined ? undefined : new TextDecoder().decode(bytes);
  };
  const listing = {
    sha: "0123456789abcdef0123456789abcdef01234567",
    siblings: ["config.json", "tokenizer.json", "model.safetensors"].map((rfilename) => ({
      rfilename,
      size: 9,
    })),
  };
  const damage = damageModelFile;
  return [
    {
      name: "model",
      weight: 4,
      seeds: models,
      damage,
      async run(files) {
        await readModelHeader(new MemoryFolder("m", { ...files }));
      },
    },
    {
      name: "tokenizer",
      weight: 4,
      seeds: [tokenizerFiles],
      damage,
      async run(files) {
        exercise(
          loadTokenizer({
            tokenizerJson: text(files, "tokenizer.json") ?? "",
            tokenizerConfigJson: text(files, "tokenizer_config.json"),
            file: "m",
          }),
        );
      },
    },
    {
      name: "chat template",
      weight: 4,
      seeds: [{ "chat_template.jinja": encode(config.chat_template) }],
      damage,
      async run(files) {
        exercise(
          loadTokenizer({
            tokenizerJson: tokenizer,
            chatTemplate: text(files, "chat_template.jinja"),
            file: "m",
          }),
        );
      },
    },
    {
      name: "archive",
      weight: 2,
      seeds: [6, 0].map((level) => ({
        "a.zip": zipSync(Object.fromEntries(archived) as Record<string, Uint8Array>, {
          level: level as 0 | 6,
        }),
      })),
      damage,
      async run(files) {
        const entries = Object.entries(files).map(([path, bytes]) => ({
          path,
          file: new Blob([bytes as Uint8Array<ArrayBuffer>]),
        }));
        for (const folder of await modelFolders(entries, unpackZip)) {
          const texts = await tokenizerTexts(folder);
          if (texts !== null) loadTokenizer(texts);
        }
      },
    },
    {
      name: "hub listing",
      weight: 1,
      seeds: [{ "answer.json": encode(JSON.stringify(listing)) }],
      damage,
      async run(files) {
        const answer = new Response(files["answer.json"] as Uint8Array<ArrayBuffer> | undefined);
        await listHubFiles(parseHubName("hub:owner/model")!, { fetch: async () => answer });
      },
    },
  ];
}
