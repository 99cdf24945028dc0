/**
 * Trains the miniature's teacher or student from scratch on rows that `rows.ts` wrote, each read once, in a random order.
 * Files are read in groups of `--group`, so that the next can be written meanwhile.
 *
 *     node scripts/run.mjs scripts/miniature/train.ts --layers 4 --out public/miniature/teacher rows-*.bin
 *
 * `--state FOLDER` also writes the weights in f32 and the optimizer, from which `--from FOLDER` goes on.
 */
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { shuffled } from "../../src/core/seeded.ts";
import type { DeviceChoice } from "../../src/engine/native/index.ts";
import { createFolder, createNodeBackend, openFolder } from "../../src/engine/native/node.ts";
import { AdamW, LanguageModel, parseModelConfig } from "../../src/tensor/index.ts";
import { openTokenizer } from "../../src/text/index.ts";
import { smallQwen3, type TrainingRow, trainingRow, trainOnRows } from "../training.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    hidden: { type: "string", default: "128" },
    layers: { type: "string", default: "4" },
    steps: { type: "string", default: "1000000" },
    minutes: { type: "string", default: "1000" },
    tokens: { type: "string", default: "32768" },
    "learning-rate": { type: "string", default: "2e-3" },
    "context-share": { type: "string", default: "0.3" },
    "pack-tokens": { type: "string", default: "65536" },
    /** Files that are shuffled together. */
    group: { type: "string", default: "1000" },
    /** Tokens of the longest row before this share of the training: copying is learned faster on short ones. */
    "short-until": { type: "string", default: "0" },
    short: { type: "string", default: "700" },
    span: { type: "string", default: "0,1" },
    seed: { type: "string", default: "1" },
    device: { type: "string", default: "auto" },
    compute: { type: "string", default: "f32" },
    miniature: { type: "string", default: "public/miniature" },
    from: { type: "string" },
    state: { type: "string" },
    out: { type: "string" },
  },
});
const number = (name: keyof typeof values) => Number(values[name]);

interface Place {
  file: Uint16Array;
  at: number;
}

/** Rows of the files' groups, one group after the other, each in an order drawn from the seed. */
function* rows(): Generator<Uint16Array, undefined> {
  for (let first = 0; first < positionals.length; first += number("group")) {
    const places: Place[] = [];
    for (const name of positionals.slice(first, first + number("group"))) {
      const bytes = readFileSync(name);
      const file = new Uint16Array(bytes.buffer, bytes.byteOffset, Math.floor(bytes.length / 2));
      for (let at = 0; at < file.length; at += 3 + file[at + 2]!) places.push({ file, at });
    }
    console.log(`${places.length} rows`);
    for (const n of shuffled(places.length, number("seed") + first)) {
      const { file, at } = places[n]!;
      yield file.subarray(at + 1, at + 3 + file[at + 2]!);
    }
  }
}
const left = rows();

function draw(progress: number): TrainingRow | null {
  for (;;) {
    const { value: row } = left.next();
    if (row === undefined) return null;
    const [context, count] = [row[0]!, row[1]!];
    if (progress < number("short-until") && count > number("short")) continue;
    const ids = Array.from(row.subarray(2));
    return trainingRow(ids.slice(0, context), ids.slice(context));
  }
}

const tokenizer = await openTokenizer(openFolder(`${values.miniature}/tokenizer`));
const backend = await createNodeBackend(values.device as DeviceChoice, {
  compute: values.compute as "f32" | "f16",
  onNote: console.log,
});
const config = smallQwen3(
  {
    hidden: number("hidden"),
    layers: number("layers"),
    vocabulary: 16 * Math.ceil(tokenizer.vocabularySize / 16),
  },
  { beginsText: tokenizer.idOf("<|endoftext|>"), endsTurn: tokenizer.idOf("<|im_end|>") },
);
const model =
  values.from === undefined
    ? LanguageModel.create(backend, parseModelConfig(config, "config.json"), number("seed"))
    : await LanguageModel.load(backend, openFolder(values.from));
const optimizer = new AdamW(model);
if (values.from !== undefined) await optimizer.load(openFolder(values.from));
console.log(`${model.parameterCount} parameters on ${backend.kind} (${backend.description})`);
const [from, to] = values.span.split(",").map(Number) as [number, number];
const { tokens, steps } = await trainOnRows(model, optimizer, {
  steps: number("steps"),
  minutes: number("minutes"),
  tokens: number("tokens"),
  peakLearningRate: number("learning-rate"),
  contextShare: number("context-share"),
  packTokens: number("pack-tokens"),
  span: [from, to],
  draw,
});
console.log(`${steps} steps, ${tokens} tokens`);
if (values.state !== undefined) {
  const writer = await createFolder(values.state);
  await model.save(writer, { dtype: "f32" });
  await optimizer.save(writer);
  await writer.commit();
}
if (values.out !== undefined) {
  const writer = await createFolder(values.out);
  await model.save(writer, { dtype: "bf16" });
  await writer.commit();
}
optimizer.dispose();
model.dispose();
backend.dispose();
process.exit(0);
