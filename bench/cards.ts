/**
 * One card beside several of the same host: scoring and training steps of a model with random weights, and where the
 * time of a step goes. `npm run bench -- cards [--cards 2] [--compute f16] [--model 1.7b] [--items 32] [--exchange f32,bf16]
 * [--sum]`; on a host without cards, processes on the software adapter or the processor with a tiny model. `--host-sum` measures the way of
 * gradients through shared memory alone, without cards (`support/host-sum.ts`).
 */
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { PAPER_SETTINGS, type TrainItem } from "../src/core/ports.ts";
import { uniforms } from "../src/core/seeded.ts";
import { Cards, CardsScorer, CardsTrainer, processCards, serveCard } from "../src/engine/cards/index.ts";
import type { CardCalls } from "../src/engine/cards/protocol.ts";
import type { PieceFormat } from "../src/tensor/index.ts";
import { benchHostSum, serveHostSum } from "./support/host-sum.ts";
import { writeModel } from "./support/model-folder.ts";
import { sizeNamed } from "./support/options.ts";
import { modelName } from "./support/qwen3-sizes.ts";

const SETTINGS = PAPER_SETTINGS;

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
      model: { type: "string" },
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
  const size = values.model ?? (real ? "1.7b" : "tiny");
  const config = sizeNamed(size);
  const count = Number(values.items ?? (real ? 32 : 4));
  const [prompt, response] = size === "tiny" ? [100, 20] : [2048, 96];
  const items = decisions(count, prompt, response, config.vocabularySize);
  const exchanges = values.exchange.split(",") as PieceFormat[];
  const options = {
    compute: values.compute === "f16" ? "f16" : "f32",
    device: values.device === "cpu" ? "cpu" : "webgpu",
    repeats: Number(values.repeats),
    sum: values.sum,
  } as const;
  const folder = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "gcopd-bench-"));
  try {
    console.error(`model written in ${(await seconds(() => writeModel(folder, config))).toFixed(1)} s`);
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
    console.log(
      `${modelName(size)}, ${count} decisions of ${prompt} + ${response} tokens, ${options.compute}\n`,
    );
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
