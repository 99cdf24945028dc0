/**
 * One card beside several of the same host: scoring and training steps of a model with random weights, and where the
 * time of a step goes. `npm run bench -- cards [--cards 2] [--compute f16] [--size 1.7B] [--items 32] [--exchange f32,bf16] [--sum]`; on a host
 * without cards, processes on the software adapter or the processor with a tiny model. `--host-sum` measures the way of
 * gradients through shared memory alone, without cards (`support/host-sum.ts`).
 */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { PAPER_SETTINGS, type TrainItem } from "../src/core/ports.ts";
import { uniforms } from "../src/core/seeded.ts";
import { Cards, CardsScorer, CardsTrainer, processCards, serveCard } from "../src/engine/cards/index.ts";
import type { CardCalls } from "../src/engine/cards/protocol.ts";
import type { PieceFormat } from "../src/tensor/index.ts";
import { benchHostSum, serveHostSum } from "./support/host-sum.ts";

const SIZES = {
  tiny: { hidden: 64, inner: 192, layers: 2, heads: 4, groups: 2, head: 16, vocabulary: 1880 },
  "0.6B": { hidden: 1024, inner: 3072, layers: 28, heads: 16, groups: 8, head: 128, vocabulary: 151_936 },
  "1.7B": { hidden: 2048, inner: 6144, layers: 28, heads: 16, groups: 8, head: 128, vocabulary: 151_936 },
} as const;
type Size = keyof typeof SIZES;

const SETTINGS = PAPER_SETTINGS;

/** A folder with random bf16 weights: one block of values, normal(0, 0.02), over and over; norms of 1. */
async function writeModel(folder: string, size: Size): Promise<void> {
  const { hidden: d, inner: f, layers, heads, groups, head, vocabulary } = SIZES[size];
  writeFileSync(
    join(folder, "config.json"),
    JSON.stringify({
      architectures: ["Qwen3ForCausalLM"],
      model_type: "qwen3",
      hidden_size: d,
      intermediate_size: f,
      num_hidden_layers: layers,
      num_attention_heads: heads,
      num_key_value_heads: groups,
      head_dim: head,
      vocab_size: vocabulary,
      max_position_embeddings: 40_960,
      rms_norm_eps: 1e-6,
      rope_theta: 1e6,
      tie_word_embeddings: true,
      hidden_act: "silu",
      attention_bias: false,
    }),
  );
  const shapes: [string, number[]][] = [
    ["model.embed_tokens.weight", [vocabulary, d]],
    ["model.norm.weight", [d]],
  ];
  for (let layer = 0; layer < layers; layer++) {
    const of = (name: string, shape: number[]) =>
      shapes.push([`model.layers.${layer}.${name}.weight`, shape]);
    of("input_layernorm", [d]);
    of("self_attn.q_proj", [heads * head, d]);
    of("self_attn.k_proj", [groups * head, d]);
    of("self_attn.v_proj", [groups * head, d]);
    of("self_attn.q_norm", [head]);
    of("self_attn.k_norm", [head]);
    of("self_attn.o_proj", [d, heads * head]);
    of("post_attention_layernorm", [d]);
    of("mlp.gate_proj", [f, d]);
    of("mlp.up_proj", [f, d]);
    of("mlp.down_proj", [d, f]);
  }
  const header: Record<string, object> = {};
  let at = 0;
  for (const [name, shape] of shapes) {
    const bytes = 2 * shape.reduce((a, b) => a * b, 1);
    header[name] = { dtype: "BF16", shape, data_offsets: [at, at + bytes] };
    at += bytes;
  }
  const text = Buffer.from(JSON.stringify(header));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(text.length));
  const block = randomBlock(2 ** 22);
  const ones = new Uint16Array(2 ** 16).fill(0x3f80);
  const file = await open(join(folder, "model.safetensors"), "w");
  await file.write(length);
  await file.write(text);
  for (const [, shape] of shapes) {
    const source = Buffer.from((shape.length === 1 ? ones : block).buffer);
    for (let left = 2 * shape.reduce((a, b) => a * b, 1); left > 0; ) {
      const { bytesWritten } = await file.write(source, 0, Math.min(left, source.length));
      left -= bytesWritten;
    }
  }
  await file.close();
}

function randomBlock(count: number): Uint16Array {
  const next = uniforms(1);
  const values = Float32Array.from(
    { length: count },
    () => 0.02 * Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next()),
  );
  const bits = new Uint32Array(values.buffer);
  return Uint16Array.from(bits, (word) => word >>> 16);
}

function decisions(count: number, prompt: number, response: number, vocabulary: number): TrainItem[] {
  const next = uniforms(2);
  const ids = (n: number) => Array.from({ length: n }, () => Math.floor(next() * vocabulary));
  return Array.from({ length: count }, (_, n) => ({
    episode: `e${n}`,
    decision: 0,
    promptIds: ids(prompt),
    responseIds: ids(response),
    teacherLogprobs: Array.from({ length: response }, () => -12 - next()),
    rolloutLogprobs: null,
    weight: 1 / (count * response),
  }));
}

const seconds = async (work: () => Promise<unknown>) => {
  const began = performance.now();
  await work();
  return (performance.now() - began) / 1000;
};
const median = (values: number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;

function isGradient(answer: unknown): answer is ReturnType<CardCalls["gradient"]> {
  return typeof answer === "object" && answer !== null && "seconds" in answer;
}

interface Times {
  score: number;
  step: number;
  /** Parts of the last step. */
  parts: Record<string, number>;
}

async function measure(
  numbers: readonly number[],
  folder: string,
  items: readonly TrainItem[],
  options: {
    compute: "f32" | "f16";
    device: "webgpu" | "cpu";
    repeats: number;
    sum: boolean;
    exchange: PieceFormat;
  },
): Promise<Times> {
  const cards = await Cards.open({
    ...processCards(numbers, [process.argv[1]!, "serve-card"]),
    device: options.device,
    compute: options.compute,
    exchange: options.exchange,
  });
  try {
    const parts: Record<string, number> = {};
    const all = cards.all.bind(cards);
    cards.all = (async (method, ...rest) => {
      const began = performance.now();
      const answer = await all(method, ...rest);
      parts[method] = (performance.now() - began) / 1000;
      // The card that took longest to compute, and what was left of the sum then.
      const answers: readonly unknown[] = answer;
      const gradients = answers.filter(isGradient);
      if (gradients.length > 0) {
        parts.backward = Math.max(...gradients.map(({ seconds }) => seconds.backward));
        parts.sum = parts[method] - parts.backward;
      }
      return answer;
    }) as typeof cards.all;
    const requests = items.map(({ promptIds, responseIds }, n) => ({
      id: String(n),
      promptIds,
      responseIds,
    }));
    const scorer = await CardsScorer.open(cards, folder);
    console.error(`${cards.description}: loaded in ${parts.load!.toFixed(1)} s`);
    await scorer.score(requests.slice(0, 2 * numbers.length));
    const scores: number[] = [];
    for (let n = 0; n < options.repeats; n++) {
      scores.push(await seconds(() => scorer.score(requests)));
      console.error(`scoring on ${numbers.length}: ${scores.at(-1)!.toFixed(2)} s`);
    }
    scorer.dispose();
    const trainer = await CardsTrainer.open(cards, folder, { optimizer: "ignore" });
    await trainer.step(items.slice(0, 2 * numbers.length), SETTINGS);
    const steps: number[] = [];
    for (let n = 0; n < options.repeats; n++) {
      const time = await seconds(() => trainer.step(items, SETTINGS));
      steps.push(time);
      const told = ["backward", "sum", "update"].map((name) => `${name} ${parts[name]!.toFixed(2)}`);
      console.error(`step on ${numbers.length}: ${time.toFixed(2)} s (${told.join(", ")})`);
    }
    const step = { ...parts };
    if (options.sum && numbers.length > 1) {
      // As many bytes again, without what a step does before: how fast the sum itself is.
      await cards.all("load", () => ({ model: 99, folder, optimizer: "ignore" as const }));
      for (let n = 0; n < 3; n++) {
        const round = cards.newRound();
        const none = { model: 99, items: [], settings: SETTINGS, round };
        const time = await seconds(() => cards.all("gradient", () => none));
        const gigabytes = (4 * (trainer.info.parameters ?? 0)) / 1e9;
        console.error(`sum of ${gigabytes.toFixed(1)} GB on each of ${numbers.length}: ${time.toFixed(2)} s`);
      }
    }
    return { score: median(scores), step: median(steps), parts: step };
  } finally {
    cards.dispose();
  }
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      cards: { type: "string", default: "2" },
      compute: { type: "string", default: "f32" },
      size: { type: "string" },
      items: { type: "string" },
      repeats: { type: "string", default: "3" },
      device: { type: "string", default: "webgpu" },
      sum: { type: "boolean", default: false },
      exchange: { type: "string", default: "f32,bf16" },
      "host-sum": { type: "boolean", default: false },
    },
  });
  if (values["host-sum"]) {
    await benchHostSum(Number(values.cards), Number(values.repeats));
    return;
  }
  const real = existsSync("/dev/nvidia0") || existsSync("/dev/dri/renderD128");
  const size = (values.size ?? (real ? "1.7B" : "tiny")) as Size;
  const count = Number(values.items ?? (real ? 32 : 4));
  const [prompt, response] = size === "tiny" ? [100, 20] : [2048, 96];
  const items = decisions(count, prompt, response, SIZES[size].vocabulary);
  const exchanges = values.exchange.split(",") as PieceFormat[];
  const options = {
    compute: values.compute === "f16" ? "f16" : "f32",
    device: values.device === "cpu" ? "cpu" : "webgpu",
    repeats: Number(values.repeats),
    sum: values.sum,
  } as const;
  const folder = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "gcopd-bench-"));
  try {
    console.error(`model written in ${(await seconds(() => writeModel(folder, size))).toFixed(1)} s`);
    const most = Number(values.cards);
    const tokens = count * (prompt + response);
    const rows: string[][] = [];
    let one: Times | undefined;
    const measured: [number, PieceFormat][] = [[1, exchanges[0]!]];
    for (let n = 2; n <= most; n *= 2) for (const exchange of exchanges) measured.push([n, exchange]);
    for (const [n, exchange] of measured) {
      const times = await measure([...Array(n).keys()], folder, items, { ...options, exchange });
      one ??= times;
      const { backward = 0, sum = 0, update = 0 } = times.parts;
      rows.push([
        String(n),
        n === 1 ? "" : exchange,
        ...(["score", "step"] as const).flatMap((what) => [
          times[what].toFixed(2),
          Math.round(tokens / times[what]).toLocaleString("en"),
          `${(one![what] / times[what]).toFixed(2)}×`,
        ]),
        `${backward.toFixed(2)} + ${sum.toFixed(2)} + ${update.toFixed(2)}`,
      ]);
    }
    console.log(`Qwen3 ${size}, ${count} decisions of ${prompt} + ${response} tokens, ${options.compute}\n`);
    const head = [
      "cards",
      "gradients in",
      "scoring s",
      "tokens/s",
      "beside 1",
      "step s",
      "tokens/s",
      "beside 1",
      "backward + sum + update",
    ];
    for (const row of [head, head.map(() => "---"), ...rows]) console.log(`| ${row.join(" | ")} |`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

if (process.argv[2] === "serve-card") serveCard();
else if (process.argv[2] === "serve-sum") serveHostSum();
else await main();
