/**
 * Speed of the tensor engine on the WebGPU adapter that is found (a software one if there is no other), beside the plain
 * TypeScript reference: matrix products by kernel, and scoring, training steps and sampling of the sample's two models.
 *
 * Tokens are those of the whole sequences; the head runs on the response tokens only. Operations are counted as
 * 2 · parameters · tokens of the matrix products plus attention over the pairs that are seen, three times (attention
 * 3.5 times) as many for a training step.
 */
import { existsSync } from "node:fs";
import { cpus } from "node:os";
import { uniforms } from "../src/core/seeded.ts";
import { openFolder } from "../src/engine/native/node-folder.ts";
import {
  AdamW,
  type Backend,
  createReferenceBackend,
  createWebGpuBackend,
  LanguageModel,
  type ModelConfig,
  type Sequence,
} from "../src/tensor/index.ts";
import { randomValues } from "../test/random.ts";
import { openBestGpu } from "./support/device.ts";
import { TIMED_ADAMW } from "./support/random-work.ts";

/** The size of the sample's models, for as long as they are not there. */
const SAMPLE_SIZE: ModelConfig = {
  architecture: "qwen3",
  vocabularySize: 1880,
  hiddenSize: 192,
  intermediateSize: 512,
  layers: 6,
  heads: 6,
  keyValueHeads: 3,
  headSize: 32,
  ropeTheta: 1e6,
  normEpsilon: 1e-6,
  tied: true,
  maxPositions: 8192,
};

const rows: string[][] = [];

/** Best of `times` runs after one to warm up, in seconds. */
async function seconds(times: number, work: () => Promise<unknown>): Promise<number> {
  await work();
  let best = Number.POSITIVE_INFINITY;
  for (let i = 0; i < times; i++) {
    const start = performance.now();
    await work();
    best = Math.min(best, (performance.now() - start) / 1000);
  }
  return best;
}

const figure = (value: number) =>
  value >= 100 ? Math.round(value).toLocaleString("en") : value.toPrecision(3);

async function matrixProducts(gpu: GPU, software: boolean): Promise<void> {
  const sizes: [number, number, number][] = software
    ? [[512, 512, 192]]
    : [
        [49152, 512, 192],
        [49152, 1880, 192],
        [4096, 4096, 4096],
      ];
  for (const matmul of ["tile", "shared"] as const) {
    const backend = await createWebGpuBackend(gpu, { matmul });
    for (const [m, n, k] of sizes) {
      const x = backend.fromArray(randomValues(m * k, 1), [m, k]);
      const w = backend.fromArray(randomValues(n * k, 2), [n, k]);
      const dy = backend.fromArray(randomValues(m * n, 3), [m, n]);
      const dw = backend.zeros([n, k]);
      const repeats = software ? 1 : Math.max(1, Math.round(2e12 / (2 * m * n * k)));
      for (const [name, work] of [
        ["y = x·wᵀ", () => backend.free(backend.linear(x, w))],
        ["dx = dy·w", () => backend.free(backend.linearBackwardInput(dy, w))],
        ["dw += dyᵀ·x", () => backend.linearBackwardWeight(dw, dy, x)],
      ] as const) {
        const time = await seconds(2, async () => {
          for (let i = 0; i < repeats; i++) work();
          await backend.sync();
        });
        const speed = figure((2 * m * n * k * repeats) / time / 1e9);
        rows.push([`${name} (${matmul})`, `${m} × ${n} × ${k}`, "", figure(time / repeats), "", speed, ""]);
      }
      backend.free(x, w, dy, dw);
    }
    backend.dispose();
  }
}

function sequences(count: number, length: number, response: number, vocabulary: number): Sequence[] {
  const next = uniforms(7);
  const ids = (n: number) => Array.from({ length: n }, () => Math.floor(next() * vocabulary));
  return Array.from({ length: count }, () => ({
    promptIds: ids(length - response),
    responseIds: ids(response),
  }));
}

/** Floating-point operations of scoring these sequences: matrix products, and attention. */
function operations({ config, parameterCount }: LanguageModel, work: readonly Sequence[]): [number, number] {
  const table = config.vocabularySize * config.hiddenSize;
  const body = parameterCount - (config.tied ? 1 : 2) * table;
  let [products, attention] = [0, 0];
  for (const { promptIds, responseIds } of work) {
    const length = promptIds.length + responseIds.length - 1;
    products += 2 * body * length + 2 * table * responseIds.length;
    attention += ((4 * length * (length + 1)) / 2) * config.heads * config.headSize * config.layers;
  }
  return [products, attention];
}

function openModel(backend: Backend, name: string): Promise<LanguageModel> | LanguageModel {
  const folder = `public/sample/${name}`;
  if (existsSync(`${folder}/config.json`)) return LanguageModel.load(backend, openFolder(folder));
  return LanguageModel.create(backend, SAMPLE_SIZE, 1);
}

interface Load {
  count: number;
  length: number;
  response: number;
  /** New tokens to sample. */
  sampled: number;
  repeats: number;
}

type Speeds = { score: number; step: number; sample: number };

async function modelSpeeds(backend: Backend, name: string, load: Load, label: string, peer?: Speeds) {
  const model = await openModel(backend, name);
  const optimizer = new AdamW(model);
  const work = sequences(load.count, load.length, load.response, model.config.vocabularySize);
  const tokens = load.count * load.length;
  const options = { maxTokensPerPack: tokens };
  const [products, attention] = operations(model, work);
  const shape = `${name}, ${load.count} × ${load.length.toLocaleString("en")}`;
  const report = (what: string, count: number, time: number, flop: number | null, beside?: number) => {
    const speed = count / time;
    const ratio = beside === undefined ? "" : `${figure(speed / beside)}×`;
    const flops = flop === null ? "" : figure(flop / time / 1e9);
    rows.push([
      `${what} (${label})`,
      shape,
      count.toLocaleString("en"),
      figure(time),
      figure(speed),
      flops,
      ratio,
    ]);
    return speed;
  };

  const scoring = await seconds(load.repeats, () => model.score(work, options));
  const score = report("score", tokens, scoring, products + attention, peer?.score);
  const slopes = work.map(({ responseIds }) => new Float32Array(responseIds.length).fill(-1 / tokens));
  const stepping = await seconds(load.repeats, async () => {
    model.zeroGradients();
    await model.backward(work, (i) => slopes[i]!, options);
    await optimizer.step(TIMED_ADAMW);
  });
  const step = report("training step", tokens, stepping, 3 * products + 3.5 * attention, peer?.step);
  const prompt = work[0]!.promptIds;
  const sampling = await seconds(1, () =>
    model.generate(prompt, { maxTokens: load.sampled, temperature: 0 }),
  );
  const sample = report(`sample after ${prompt.length}`, load.sampled, sampling, null, peer?.sample);
  optimizer.dispose();
  model.dispose();
  return { score, step, sample };
}

const gpu = await openBestGpu();
const backend = await createWebGpuBackend(gpu);
const { software, description } = backend;
await matrixProducts(gpu, software);
const small: Load = { count: 2, length: 512, response: 64, sampled: 16, repeats: 1 };
const loads: Load[] = software
  ? [small]
  : [
      { count: 8, length: 2048, response: 256, sampled: 128, repeats: 3 },
      { count: 24, length: 2048, response: 256, sampled: 128, repeats: 3 },
    ];
const reference = createReferenceBackend();
for (const name of ["teacher", "student"]) {
  const plain = await modelSpeeds(reference, name, small, "plain TypeScript");
  for (const load of loads) await modelSpeeds(backend, name, load, "WebGPU", plain);
}
reference.dispose();
backend.dispose();

console.log(
  `Adapter: ${description}${software ? " (software)" : ""}. Processor: ${cpus()[0]?.model}, one thread.\n`,
);
const head = ["what", "size", "tokens", "seconds", "tokens/s", "GFLOP/s", "beside plain TypeScript"];
for (const line of [head, head.map(() => "---"), ...rows]) console.log(`| ${line.join(" | ")} |`);
