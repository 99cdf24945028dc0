/**
 * What f16 operands cost in precision, on the WebGPU adapter that is found: log-probabilities and gradients of the golden
 * models and of a random one of middle size, beside the same engine in f32; and matrix products of whole numbers, tails of
 * every kind, which must come out exact.
 *
 *     npm run bench -- precision [--packed]
 *
 * `--packed` takes the f16 kernels that need no feature: they run on software adapters too. Ends with status 1 when a
 * log-probability differs by more than 2e-2, a gradient by more than 3e-2 of its norm, or a product is not exact.
 */
import { parseArgs } from "node:util";
import { uniforms } from "../src/core/seeded.ts";
import { openFolder } from "../src/engine/native/node-folder.ts";
import {
  createWebGpuBackend,
  LanguageModel,
  parseModelConfig,
  type Sequence,
  type WebGpuBackend,
} from "../src/tensor/index.ts";

import { GoldenFile } from "../test/golden-file.ts";
import { forwardSequences } from "../test/golden-forward.ts";
import { randomValues } from "../test/random.ts";
import { relativeError } from "../test/support/relative-error.ts";
import { openBestGpu, TOGGLES } from "./support/device.ts";

const MOST_LOGPROB = 2e-2;
const MOST_GRADIENT = 3e-2;

const { values: options } = parseArgs({ options: { packed: { type: "boolean", default: false } } });

const gpu = await openBestGpu();
const full = await createWebGpuBackend(gpu);
const half = await createWebGpuBackend(gpu, { compute: "f16", ...(options.packed ? { f16: "packed" } : {}) });
const lines: string[][] = [];
let failed = false;

function report(what: string, size: string, measure: string, value: number, most: number): void {
  const good = value <= most;
  failed ||= !good;
  lines.push([what, size, measure, value.toExponential(2), most.toExponential(0), good ? "yes" : "NO"]);
}

/** y, dx and dw of small whole numbers, as one array: exact in f16 with f32 sums. */
async function products(b: WebGpuBackend, m: number, n: number, k: number): Promise<Float32Array[]> {
  const whole = (count: number, seed: number) => randomValues(count, seed, 8).map(Math.round);
  const x = b.fromArray(whole(m * k, 1), [m, k]);
  const w = b.fromArray(whole(n * k, 2), [n, k]);
  const dy = b.fromArray(whole(m * n, 3), [m, n]);
  const dw = b.fromArray(whole(n * k, 4), [n, k]);
  b.linearBackwardWeight(dw, dy, x);
  const results = [b.linear(x, w), b.linearBackwardInput(dy, w), dw];
  const values: Float32Array[] = [];
  for (const t of results) values.push(await b.read(t));
  b.free(x, w, dy, ...results);
  return values;
}

const SIZES = half.software
  ? [
      [17, 20, 36],
      [65, 68, 40],
    ]
  : [
      [17, 20, 36],
      [129, 132, 68],
      [100, 64, 2000],
      [128, 128, 32],
      [1000, 1028, 516],
      [1280, 1280, 1280],
      [1290, 1412, 300],
      [3000, 192, 64],
      [8200, 64, 192],
    ];
for (const [m, n, k] of SIZES as [number, number, number][]) {
  const [expected, found] = [await products(full, m, n, k), await products(half, m, n, k)];
  ["NT", "NN", "TN"].forEach((form, i) => {
    report(
      `product ${form}`,
      `${m} × ${n} × ${k}`,
      "relative error",
      relativeError(found[i]!, expected[i]!),
      1e-6,
    );
  });
}

interface Results {
  logprobs: Float32Array[];
  gradients: Map<string, Float32Array>;
}

async function results(model: LanguageModel, sequences: readonly Sequence[]): Promise<Results> {
  const logprobs = await model.score(sequences);
  model.zeroGradients();
  const count = sequences.reduce((sum, { responseIds }) => sum + responseIds.length, 0);
  await model.backward(sequences, (i) => new Float32Array(sequences[i]!.responseIds.length).fill(-1 / count));
  const gradients = new Map<string, Float32Array>();
  for (const [name, t] of model.gradients) gradients.set(name, await model.backend.read(t));
  model.dispose();
  return { logprobs, gradients };
}

function sequences(vocabulary: number, lengths: readonly [number, number][]): Sequence[] {
  const next = uniforms(3);
  const ids = (n: number) => Array.from({ length: n }, () => Math.floor(next() * vocabulary));
  return lengths.map(([prompt, response]) => ({ promptIds: ids(prompt), responseIds: ids(response) }));
}

async function compare(
  what: string,
  open: (b: WebGpuBackend) => Promise<LanguageModel>,
  given: readonly [number, number][] | readonly Sequence[],
): Promise<void> {
  const model = await open(full);
  const isWork = (some: typeof given): some is readonly Sequence[] => !Array.isArray(some[0]);
  const work = isWork(given) ? given : sequences(model.config.vocabularySize, given);
  const expected = await results(model, work);
  const found = await results(await open(half), work);
  const tokens = work.map(({ promptIds, responseIds }) => promptIds.length + responseIds.length).join(" + ");
  let worst = 0;
  expected.logprobs.forEach((row, i) => {
    row.forEach((value, j) => {
      worst = Math.max(worst, Math.abs(value - found.logprobs[i]![j]!));
    });
  });
  report(what, `${tokens} tokens`, "log-probability, absolute", worst, MOST_LOGPROB);
  let worstName = "";
  let worstGradient = 0;
  for (const [name, values] of expected.gradients) {
    const error = relativeError(found.gradients.get(name)!, values);
    if (!(error <= worstGradient)) [worstName, worstGradient] = [name, error];
  }
  report(`${what}: ${worstName}`, `${tokens} tokens`, "gradient, of its norm", worstGradient, MOST_GRADIENT);
}

for (const name of ["qwen3-a", "qwen3-b", "qwen3_5"]) {
  const open = (b: WebGpuBackend) => LanguageModel.load(b, openFolder(`test/fixtures/models/${name}`));
  await compare(name, open, [
    [40, 24],
    [7, 90],
    [200, 20],
  ]);
  const goldens = openFolder(`test/fixtures/models/goldens/${name}`);
  const file = await GoldenFile.open(goldens, "forward.safetensors");
  await compare(`${name}, golden sequences`, open, await forwardSequences(file));
}

if (!half.software) {
  const config = parseModelConfig(
    JSON.stringify({
      architectures: ["Qwen3ForCausalLM"],
      model_type: "qwen3",
      vocab_size: 16384,
      hidden_size: 512,
      intermediate_size: 1536,
      num_hidden_layers: 8,
      num_attention_heads: 8,
      num_key_value_heads: 4,
      head_dim: 128,
      hidden_act: "silu",
      rms_norm_eps: 1e-6,
      rope_theta: 1e6,
      max_position_embeddings: 8192,
      tie_word_embeddings: false,
      attention_bias: false,
    }),
    "random model",
  );
  await compare("random, 8 layers of 512", async (b) => LanguageModel.create(b, config, 1), [
    [900, 100],
    [300, 77],
  ]);
}
const { description, software } = half;
full.dispose();
half.dispose();

console.log(`Adapter: ${description}${software ? " (software)" : ""}; toggles: ${TOGGLES || "none"}.\n`);
const head = ["what", "size", "measure", "value", "at most", "holds"];
for (const line of [head, head.map(() => "---"), ...lines]) console.log(`| ${line.join(" | ")} |`);
process.exitCode = failed ? 1 : 0;
