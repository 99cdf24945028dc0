import type { Backend } from "../src/tensor/backend.ts";
import { AdamW, type LanguageModel, type Sequence, type Tensor } from "../src/tensor/index.ts";
import { GoldenFile, readJson } from "./golden-file.ts";
import { type Deviations, type Goldens, LOGPROB, Meter, withModel } from "./golden-meter.ts";

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
async function backwardLoss(model: LanguageModel, decisions: Decision[]) {
  model.zeroGradients();
  const logprobs = await model.backward(decisions, (i, row) => surrogate(decisions[i]!, row).slopes);
  const loss = logprobs.reduce((sum, row, i) => sum + surrogate(decisions[i]!, row).loss, 0);
  return { loss, logprobs };
}

export async function checkGradient(goldens: Goldens, model: string): Promise<Deviations> {
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

async function readAll(
  backend: Backend,
  tensors: ReadonlyMap<string, Tensor>,
): Promise<Map<string, Float32Array>> {
  const values = new Map<string, Float32Array>();
  for (const [name, t] of tensors) values.set(name, await backend.read(t));
  return values;
}

export async function checkAdamW(goldens: Goldens, model: string): Promise<Deviations> {
  const { backend } = goldens;
  const meter = new Meter();
  const folder = goldens.open(`goldens/${model}`);
  const { steps } = await readJson<AdamWGolden>(folder, "adamw.json");
  const file = await GoldenFile.open(folder, "adamw.safetensors");
  const decisions = await readDecisions(await GoldenFile.open(folder, "gradient.safetensors"));
  // All settings begin with the same step.
  const first = await withModel(goldens, model, async (loaded) => {
    const { loss } = await backwardLoss(loaded, decisions);
    return { loss, gradients: await readAll(backend, loaded.gradients) };
  });
  for (const setting of new Set(steps.map(({ config }) => config)))
    await withModel(goldens, model, async (loaded) => {
      const optimizer = new AdamW(loaded);
      const start = await readAll(backend, loaded.parameters);
      for (const golden of steps.filter(({ config }) => config === setting)) {
        const { lr: learningRate, weight_decay: weightDecay, step } = golden;
        const where = `${setting} step ${step}`;
        const tolerance = learningRate > 1e-4 && step > 1 ? 1e-2 : 1e-3;
        const { loss } = step === 1 ? first : await backwardLoss(loaded, decisions);
        if (step === 1) {
          loaded.zeroGradients();
          for (const [name, t] of loaded.gradients) backend.write(t, first.gradients.get(name)!);
        }
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

export async function checkAdamWUnit({ backend, open }: Goldens): Promise<Deviations> {
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
        backend.adamw([{ p: p!, g: g!, m: m!, v: v! }], options);
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
