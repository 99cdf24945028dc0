/**
 * The golden values of fixtures/models, checked on any backend, in Node or in a page. A check throws at the first
 * value beyond the tolerance of the fixtures' README and otherwise returns the largest deviations that it met.
 */
import type { FolderReader } from "../src/core/ports.ts";
import type { Backend } from "../src/tensor/backend.ts";
import { AdamW, Qwen3Model, type Sequence } from "../src/tensor/index.ts";
import { layerForward } from "../src/tensor/qwen3-layer.ts";
import { arrangeTensors } from "../src/tensor/qwen3-pass.ts";
import { RopeTable } from "../src/tensor/rope-table.ts";
import { GoldenFile, readJson } from "./golden-file.ts";

export interface Goldens {
  backend: Backend;
  /** Opens a folder of fixtures/models, such as `qwen3-a` or `goldens/qwen3-a`. */
  open(folder: string): FolderReader;
}

/** Largest deviation of each kind of value. */
export type Deviations = Record<string, number>;

export interface GoldenCheck {
  name: string;
  run(goldens: Goldens): Promise<Deviations>;
}

/** The files behind the checks, for readers that cannot list a folder, such as one over fetch. */
export const GOLDEN_FILES: Readonly<Record<string, readonly string[]>> = {
  "qwen3-a": ["config.json", "model.safetensors"],
  "qwen3-a-bf16": ["config.json", "model.safetensors"],
  "qwen3-b": ["config.json", "model.safetensors"],
  ...Object.fromEntries(
    ["qwen3-a-bf16-sharded", "qwen3-b-bf16-sharded"].map((folder) => [
      folder,
      [
        "config.json",
        "model.safetensors.index.json",
        "model-00001-of-00002.safetensors",
        "model-00002-of-00002.safetensors",
      ],
    ]),
  ),
  goldens: ["adamw-unit.json", "adamw-unit.safetensors"],
  ...Object.fromEntries(
    ["goldens/qwen3-a", "goldens/qwen3-b"].map((folder) => [
      folder,
      [
        "forward.safetensors",
        "forward-bf16.safetensors",
        "trace.safetensors",
        "gradient.safetensors",
        "adamw.safetensors",
        "adamw.json",
        "generate.json",
      ],
    ]),
  ),
};

export const GOLDEN_CHECKS: readonly GoldenCheck[] = [
  { name: "AdamW on given gradients", run: checkAdamWUnit },
  ...(["qwen3-a", "qwen3-b"] as const).flatMap((model): GoldenCheck[] => [
    { name: `${model}: every intermediate of eight tokens`, run: (goldens) => checkTrace(goldens, model) },
    { name: `${model}: log-probabilities`, run: (goldens) => checkForward(goldens, model, model) },
    { name: `${model}: logits and entropies`, run: (goldens) => checkLogits(goldens, model) },
    ...(model === "qwen3-a" ? ["qwen3-a-bf16", "qwen3-a-bf16-sharded"] : ["qwen3-b-bf16-sharded"]).map(
      (folder): GoldenCheck => ({
        name: `${folder}: log-probabilities`,
        run: (goldens) => checkForward(goldens, model, folder),
      }),
    ),
    { name: `${model}: loss and gradients`, run: (goldens) => checkGradient(goldens, model) },
    { name: `${model}: three AdamW steps`, run: (goldens) => checkAdamW(goldens, model) },
    { name: `${model}: greedy and sampled continuations`, run: (goldens) => checkGenerate(goldens, model) },
  ]),
];

const LOGPROB = 2e-4;
const LOGIT = 5e-4;
const PROMPTS = 6;

/** Remembers the largest deviation of each kind and throws beyond the tolerance. */
class Meter {
  readonly worst: Deviations = {};

  within(kind: string, deviation: number, tolerance: number, where: string): void {
    if (!(deviation <= tolerance))
      throw new Error(`${where}: ${kind} is off by ${deviation}, tolerance ${tolerance}`);
    this.worst[kind] = Math.max(this.worst[kind] ?? 0, deviation);
  }

  /** Every element of `actual` within an absolute tolerance. */
  all(
    kind: string,
    actual: ArrayLike<number>,
    expected: ArrayLike<number>,
    tolerance: number,
    where: string,
  ): void {
    if (actual.length !== expected.length)
      throw new Error(`${where}: ${actual.length} values, expected ${expected.length}`);
    for (let i = 0; i < expected.length; i++)
      this.within(kind, Math.abs(actual[i]! - expected[i]!), tolerance, `${where}[${i}]`);
  }

  /** Relative L2 distance, and each element by the tensor's largest. */
  gradient(actual: ArrayLike<number>, expected: ArrayLike<number>, where: string): void {
    if (actual.length !== expected.length)
      throw new Error(`${where}: ${actual.length} values, expected ${expected.length}`);
    let [distance, size, largest, off] = [0, 0, 0, 0];
    for (let i = 0; i < expected.length; i++) {
      const difference = actual[i]! - expected[i]!;
      distance += difference * difference;
      size += expected[i]! * expected[i]!;
      largest = Math.max(largest, Math.abs(expected[i]!));
      off = Math.max(off, Math.abs(difference));
    }
    this.within("gradient, relative L2", Math.sqrt(distance / size), 1e-3, where);
    this.within("gradient, by the largest", off / largest, 1e-3, where);
  }
}

async function withModel<R>(
  { backend, open }: Goldens,
  folder: string,
  work: (model: Qwen3Model) => Promise<R>,
): Promise<R> {
  const model = await Qwen3Model.load(backend, open(folder));
  try {
    return await work(model);
  } finally {
    model.dispose();
  }
}

async function forwardSequences(file: GoldenFile): Promise<Sequence[]> {
  const sequences: Sequence[] = [];
  for (let i = 0; i < PROMPTS; i++)
    sequences.push({
      promptIds: await file.numbers(`p${i}/prompt_ids`),
      responseIds: await file.numbers(`p${i}/response_ids`),
    });
  return sequences;
}

async function checkForward(goldens: Goldens, model: string, folder: string): Promise<Deviations> {
  const meter = new Meter();
  const inputs = await GoldenFile.open(goldens.open(`goldens/${model}`), "forward.safetensors");
  const widened = folder !== model;
  const expected = widened
    ? await GoldenFile.open(goldens.open(`goldens/${model}`), "forward-bf16.safetensors")
    : inputs;
  const sequences = await forwardSequences(inputs);
  await withModel(goldens, folder, async (loaded) => {
    const results = await loaded.score(sequences);
    for (const [i, logprobs] of results.entries()) {
      meter.all("log-probability", logprobs, await expected.numbers(`p${i}/logprobs`), LOGPROB, `p${i}`);
      if (!widened)
        meter.all("log-probability", logprobs, await inputs.numbers(`p${i}/logprobs_f64`), LOGPROB, `p${i}`);
    }
  });
  return meter.worst;
}

/** Hidden rows through all layers with every intermediate, as the model itself computes them, and the logits. */
async function traceForward(
  { backend }: Goldens,
  model: Qwen3Model,
  ids: readonly number[],
  rows: readonly number[],
): Promise<{ values: Map<string, Float32Array>; logits: Float32Array }> {
  const { config } = model;
  const w = arrangeTensors(config, model.parameters);
  const rope = new RopeTable(backend, config.headSize, config.ropeTheta, config.maxPositions);
  const tables = rope.tables(ids.length);
  const kept = new Map<string, ReturnType<Backend["zeros"]>>();
  const logits = backend.scope((keep) => {
    const vector = (data: readonly number[]) => backend.fromArray(Uint32Array.from(data), [data.length]);
    const keys = { start: vector(ids.map(() => 0)), end: vector(ids.map((_, i) => i + 1)) };
    const places = { ...tables, positions: vector(ids.map((_, i) => i)) };
    let x = backend.embedding(w.embedding, vector(ids));
    kept.set("embed", keep(x));
    for (const [l, layer] of w.layers.entries()) {
      const attend = (...[q, k, v]: Parameters<Parameters<typeof layerForward>[5]>) =>
        backend.attention(q, k, v, keys);
      const { y, activations: a } = layerForward(backend, config, layer, x, places, attend);
      const named = { input_norm: a.normed, q: a.q, k: a.k, v: a.v, attention: a.o, post_norm: a.postNormed };
      for (const [name, t] of Object.entries({ ...named, mid: a.mid, out: y }))
        kept.set(`layer${l}/${name}`, keep(t));
      x = y;
    }
    const { y: normed } = backend.rmsNorm(x, w.finalNorm, config.normEpsilon);
    kept.set("final_norm", keep(normed));
    return keep(backend.linear(backend.gatherRows(normed, vector(rows)), w.head));
  });
  const values = new Map<string, Float32Array>();
  for (const [name, t] of kept) {
    values.set(name, await backend.read(t));
    backend.free(t);
  }
  const result = await backend.read(logits);
  backend.free(logits);
  rope.dispose();
  return { values, logits: result };
}

async function checkTrace(goldens: Goldens, model: string): Promise<Deviations> {
  const meter = new Meter();
  const file = await GoldenFile.open(goldens.open(`goldens/${model}`), "trace.safetensors");
  const ids = await file.numbers("input_ids");
  await withModel(goldens, model, async (loaded) => {
    const { values, logits } = await traceForward(goldens, loaded, ids, [ids.length - 1]);
    const minus = (a: Float32Array, b: Float32Array) => a.map((value, i) => value - b[i]!);
    for (const name of file.names) {
      if (name === "input_ids") continue;
      const [place, part] = name.split("/");
      let actual = values.get(name);
      if (name === "last_logits") actual = logits;
      if (part === "mlp_out") actual = minus(values.get(`${place}/out`)!, values.get(`${place}/mid`)!);
      if (part === "mixer_out") {
        const layer = Number(place!.slice("layer".length));
        const input = values.get(layer === 0 ? "embed" : `layer${layer - 1}/out`)!;
        actual = minus(values.get(`${place}/mid`)!, input);
      }
      if (actual === undefined) throw new Error(`no value for ${name}`);
      meter.all("intermediate", actual, await file.numbers(name), LOGIT, name);
    }
  });
  return meter.worst;
}

async function checkLogits(goldens: Goldens, model: string): Promise<Deviations> {
  const meter = new Meter();
  const file = await GoldenFile.open(goldens.open(`goldens/${model}`), "forward.safetensors");
  const subset = await file.numbers("subset_ids");
  await withModel(goldens, model, async (loaded) => {
    const size = loaded.config.vocabularySize;
    for (const [i, { promptIds, responseIds }] of (await forwardSequences(file)).entries()) {
      const ids = [...promptIds, ...responseIds.slice(0, -1)];
      const { logits } = await traceForward(
        goldens,
        loaded,
        ids,
        responseIds.map((_, j) => promptIds.length - 1 + j),
      );
      const whole = file.names.includes(`p${i}/logits`);
      const expected = await file.numbers(whole ? `p${i}/logits` : `p${i}/logits_subset`);
      const sums = await file.numbers(`p${i}/logsumexp`);
      const entropies = [await file.numbers(`p${i}/entropy`), await file.numbers(`p${i}/entropy_f64`)];
      for (let j = 0; j < responseIds.length; j++) {
        const row = logits.subarray(j * size, (j + 1) * size);
        const columns = whole ? row : subset.map((id) => row[id]!);
        const stored = expected.slice(j * columns.length, (j + 1) * columns.length);
        meter.all("logit", columns, stored, LOGIT, `p${i} token ${j}`);
        const sum = Math.log(row.reduce((total, logit) => total + Math.exp(logit), 0));
        meter.within("logit", Math.abs(sum - sums[j]!), LOGIT, `p${i} logsumexp ${j}`);
        const entropy = row.reduce((total, logit) => total - Math.exp(logit - sum) * (logit - sum), 0);
        for (const list of entropies)
          meter.within("entropy", Math.abs(entropy - list[j]!), LOGPROB, `p${i} entropy ${j}`);
      }
    }
  });
  return meter.worst;
}

/** A decision of the stored episodes with what the loss needs. */
interface Decision extends Sequence {
  key: string;
  teacher: number[];
  old: number[];
  weight: number[];
}

async function readDecisions(file: GoldenFile): Promise<Decision[]> {
  const keys = file.names.filter((name) => name.endsWith("/prompt_ids")).map((name) => name.split("/")[0]!);
  return Promise.all(
    keys.sort().map(async (key) => ({
      key,
      promptIds: await file.numbers(`${key}/prompt_ids`),
      responseIds: await file.numbers(`${key}/response_ids`),
      teacher: await file.numbers(`${key}/teacher_logp`),
      old: await file.numbers(`${key}/old_logp`),
      weight: await file.numbers(`${key}/weight`),
    })),
  );
}

/** Eq. (7) by the README's formulas: the terms of the loss and its slope in log p. */
function surrogate({ teacher, old, weight }: Decision, logprobs: Float32Array) {
  const advantage = teacher.map((value, j) => value - logprobs[j]!);
  const ratio = old.map((value, j) => Math.exp(logprobs[j]! - value));
  const objective = ratio.map((rho, j) =>
    Math.min(rho * advantage[j]!, Math.min(Math.max(rho, 0.8), 1.2) * advantage[j]!),
  );
  const clipped = ratio.map((rho, j) => Number(advantage[j]! > 0 ? rho > 1.2 : rho < 0.8));
  const slopes = Float32Array.from(ratio, (rho, j) =>
    clipped[j] === 1 ? 0 : -weight[j]! * advantage[j]! * rho,
  );
  const loss = objective.reduce((sum, value, j) => sum - weight[j]! * value, 0);
  return { advantage, ratio, objective, clipped, slopes, loss };
}

/** Gradients of the loss into the model; returns the loss and the log-probabilities. */
async function backwardLoss(model: Qwen3Model, decisions: Decision[]) {
  model.zeroGradients();
  const logprobs = await model.backward(decisions, (i, row) => surrogate(decisions[i]!, row).slopes);
  const loss = logprobs.reduce((sum, row, i) => sum + surrogate(decisions[i]!, row).loss, 0);
  return { loss, logprobs };
}

async function checkGradient(goldens: Goldens, model: string): Promise<Deviations> {
  const { backend } = goldens;
  const meter = new Meter();
  const file = await GoldenFile.open(goldens.open(`goldens/${model}`), "gradient.safetensors");
  const decisions = await readDecisions(file);
  await withModel(goldens, model, async (loaded) => {
    const { loss, logprobs } = await backwardLoss(loaded, decisions);
    for (const [i, decision] of decisions.entries()) {
      const { advantage, ratio, objective, clipped } = surrogate(decision, logprobs[i]!);
      const stored = (name: string) => file.numbers(`${decision.key}/${name}`);
      meter.all("log-probability", logprobs[i]!, await stored("logp"), LOGPROB, decision.key);
      meter.all("advantage", advantage, await stored("advantage"), LOGPROB, decision.key);
      meter.all("ratio", ratio, await stored("ratio"), 1e-3, decision.key);
      meter.all("objective", objective, await stored("objective"), 2e-3, decision.key);
      meter.all("clipped", clipped, await stored("clipped"), 0, decision.key);
    }
    const [expectedLoss] = await file.numbers("loss");
    meter.within("loss, relative", Math.abs(loss / expectedLoss! - 1), 1e-3, "loss");
    const squares = backend.sumSquares([...loaded.gradients.values()]);
    const norm = Math.sqrt((await backend.read(squares))[0]!);
    backend.free(squares);
    const [expectedNorm] = await file.numbers("grad_norm");
    meter.within("gradient norm, relative", Math.abs(norm / expectedNorm! - 1), 1e-4, "grad_norm");
    const seen = new Set<string>();
    for (const name of file.names.filter((entry) => entry.startsWith("grad/"))) {
      const [parameter, part] = name.slice("grad/".length).split("#") as [string, string?];
      seen.add(parameter);
      const gradient = await backend.read(loaded.gradients.get(parameter)!);
      const shape = loaded.gradients.get(parameter)!.shape;
      meter.gradient(await reduced(gradient, shape, part, file), await file.numbers(name), name);
    }
    for (const name of loaded.parameters.keys())
      if (!seen.has(name)) throw new Error(`no golden gradient of ${name}`);
  });
  return meter.worst;
}

/** The stored part of a gradient: some rows, or the sum or norm of each row. */
async function reduced(
  gradient: Float32Array,
  shape: readonly number[],
  part: string | undefined,
  file: GoldenFile,
): Promise<ArrayLike<number>> {
  if (part === undefined) return gradient;
  const width = shape.at(-1)!;
  const row = (i: number) => gradient.subarray(i * width, (i + 1) * width);
  const all = Array.from({ length: shape[0]! }, (_, i) => i);
  if (part === "row_sum") return all.map((i) => row(i).reduce((sum, value) => sum + value, 0));
  if (part === "row_norm") return all.map((i) => Math.hypot(...row(i)));
  const chosen = part === "rows" ? await file.numbers("grad_rows") : all.filter((i) => i % 3 === 0);
  return chosen.flatMap((i) => [...row(i)]);
}

interface AdamWGolden {
  steps: {
    config: string;
    lr: number;
    weight_decay: number;
    step: number;
    loss: number;
    grad_norm: number;
    delta_l2: Record<string, number>;
  }[];
}

const OPTIMIZER = { beta1: 0.9, beta2: 0.999, adamEpsilon: 1e-8, maxGradNorm: 1 };

async function checkAdamW(goldens: Goldens, model: string): Promise<Deviations> {
  const { backend } = goldens;
  const meter = new Meter();
  const folder = goldens.open(`goldens/${model}`);
  const { steps } = await readJson<AdamWGolden>(folder, "adamw.json");
  const file = await GoldenFile.open(folder, "adamw.safetensors");
  const decisions = await readDecisions(await GoldenFile.open(folder, "gradient.safetensors"));
  for (const setting of new Set(steps.map(({ config }) => config)))
    await withModel(goldens, model, async (loaded) => {
      const optimizer = new AdamW(loaded);
      const start = new Map<string, Float32Array>();
      for (const [name, t] of loaded.parameters) start.set(name, await backend.read(t));
      for (const golden of steps.filter(({ config }) => config === setting)) {
        const { lr: learningRate, weight_decay: weightDecay, step } = golden;
        const where = `${setting} step ${step}`;
        const tolerance = learningRate > 1e-4 && step > 1 ? 1e-2 : 1e-3;
        const { loss } = await backwardLoss(loaded, decisions);
        const { gradNorm } = await optimizer.step({ ...OPTIMIZER, learningRate, weightDecay });
        meter.within("loss, relative", Math.abs(loss / golden.loss - 1), tolerance, where);
        meter.within("gradient norm, relative", Math.abs(gradNorm / golden.grad_norm - 1), tolerance, where);
        let [count, far] = [0, 0];
        for (const [name, t] of loaded.parameters) {
          const values = await backend.read(t);
          const before = start.get(name)!;
          const change = Math.sqrt(values.reduce((sum, value, i) => sum + (value - before[i]!) ** 2, 0));
          const whole = golden.delta_l2[name]!;
          meter.within(
            "size of the change, relative",
            Math.abs(change / whole - 1),
            1e-2,
            `${where} ${name}`,
          );
          const width = t.shape.at(-1)!;
          const rows = t.shape.length === 1 ? [0] : await file.numbers(`rows/${name}`);
          const expected = await file.numbers(`${setting}/step${step}/${name}`);
          for (const [r, row] of rows.entries())
            for (let j = 0; j < width; j++) {
              const off = Math.abs(values[row * width + j]! - expected[r * width + j]!) / learningRate;
              meter.within("parameter, in lr", off, 2 * step, `${where} ${name}[${row},${j}]`);
              count++;
              if (off > 0.05) far++;
            }
        }
        meter.within("share beyond 0.05 lr", far / count, 1e-3, where);
      }
      optimizer.dispose();
    });
  return meter.worst;
}

async function checkAdamWUnit({ backend, open }: Goldens): Promise<Deviations> {
  const meter = new Meter();
  const folder = open("goldens");
  const file = await GoldenFile.open(folder, "adamw-unit.safetensors");
  const names = file.names.filter((name) => name.startsWith("param/")).map((name) => name.slice(6));
  const settings = file.names.filter((name) => name.includes("/step1/")).map((name) => name.split("/")[0]!);
  for (const setting of new Set(settings)) {
    const [, rate, decay] = /^lr(.+)_wd(.+)$/.exec(setting)!;
    const [learningRate, weightDecay] = [Number(rate), Number(decay)];
    const state = new Map<string, ReturnType<Backend["zeros"]>[]>();
    for (const name of names) {
      const values = await file.numbers(`param/${name}`);
      const p = backend.fromArray(Float32Array.from(values), file.shape(`param/${name}`));
      state.set(name, [p, backend.zeros(p.shape), backend.zeros(p.shape), backend.zeros(p.shape)]);
    }
    for (let step = 1; step <= 5; step++) {
      for (const [name, [, g]] of state)
        backend.write(g!, Float32Array.from(await file.numbers(`grad${step}/${name}`)));
      const squares = backend.sumSquares([...state.values()].map(([, g]) => g!));
      const norm = Math.sqrt((await backend.read(squares))[0]!);
      backend.free(squares);
      const gradScale = Math.min(1, 1 / (norm + 1e-6));
      for (const [name, [p, g, m, v]] of state) {
        const options = {
          learningRate,
          beta1: 0.9,
          beta2: 0.999,
          epsilon: 1e-8,
          weightDecay,
          step,
          gradScale,
        };
        backend.adamw(p!, g!, m!, v!, options);
        for (const [kind, t] of [
          ["step", p!],
          ["m", m!],
          ["v", v!],
        ] as const) {
          const actual = await backend.read(t);
          const expected = await file.numbers(`${setting}/${kind}${step}/${name}`);
          // Parameters by the README. Moments are sums of terms of unlike sign: by the tensor's largest.
          const largest = expected.reduce((max, value) => Math.max(max, Math.abs(value)), 0);
          for (let i = 0; i < expected.length; i++) {
            const allowed =
              kind === "step" ? 1e-6 * Math.abs(expected[i]!) + 1e-3 * learningRate : 1e-6 * largest;
            const off = Math.abs(actual[i]! - expected[i]!);
            meter.within(
              "share of the tolerance",
              off === 0 ? 0 : off / allowed,
              1,
              `${setting} ${kind}${step} ${name}[${i}]`,
            );
          }
        }
      }
    }
    backend.free(...[...state.values()].flat());
  }
  return meter.worst;
}

interface Continuation {
  prompt_ids: number[];
  ids: number[];
  logprobs: number[];
}

interface GenerateGolden {
  greedy: Continuation[];
  sampling: (Continuation & { temperature: number; u: number[] })[];
}

async function checkGenerate(goldens: Goldens, model: string): Promise<Deviations> {
  const meter = new Meter();
  const golden = await readJson<GenerateGolden>(goldens.open(`goldens/${model}`), "generate.json");
  await withModel(goldens, model, async (loaded) => {
    const cases = [
      ...golden.greedy.map((entry) => ({ ...entry, temperature: 0, u: [] })),
      ...golden.sampling,
    ];
    for (const { prompt_ids: promptIds, ids, logprobs, temperature, u } of cases) {
      let next = 0;
      const uniform = () => u[next++]!;
      const options = { maxTokens: ids.length, temperature, uniform };
      const actual = await loaded.generate(promptIds, options);
      const where = `temperature ${temperature} after ${promptIds.slice(0, 5).join(" ")}`;
      if (actual.ids.join() !== ids.join())
        throw new Error(`${where}: expected ${ids.join(" ")}, got ${actual.ids.join(" ")}`);
      meter.all("log-probability", actual.logprobs, logprobs, LOGPROB, where);
      // The same tokens as one sequence, without a cache.
      const [whole] = await loaded.score([{ promptIds, responseIds: ids }]);
      meter.all("cached against whole", actual.logprobs, whole!, LOGPROB, where);
    }
  });
  return meter.worst;
}
