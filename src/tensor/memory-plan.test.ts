import { afterAll, beforeAll, expect, test } from "vitest";
import { openGpu, openNullGpu } from "../../test/webgpu.ts";
import { AdamW } from "./adamw.ts";
import { type ModelConfig, parseModelConfig } from "./config.ts";
import { LanguageModel } from "./language-model.ts";
import {
  branchTokens,
  checkPlan,
  describePlan,
  fittingPack,
  type PlannedWorkload,
  planMemory,
} from "./memory-plan.ts";
import {
  createWebGpuBackend,
  requestDevice,
  type WebGpuBackend,
  type WebGpuOptions,
} from "./webgpu/index.ts";

const sizes = (over: Record<string, unknown> = {}) =>
  parseModelConfig(
    JSON.stringify({
      model_type: "qwen3",
      hidden_act: "silu",
      attention_bias: false,
      vocab_size: 2048,
      hidden_size: 64,
      intermediate_size: 192,
      num_hidden_layers: 3,
      num_attention_heads: 4,
      num_key_value_heads: 2,
      head_dim: 16,
      max_position_embeddings: 40_960,
      rms_norm_eps: 1e-6,
      rope_theta: 1e6,
      tie_word_embeddings: true,
      ...over,
    }),
    "config.json",
  );
const job: PlannedWorkload = {
  kind: "score",
  weights: "f32",
  stored: "BF16",
  longestSequence: 200,
  packTokens: 200,
  responseRows: 40,
  compute: "f32",
  software: true,
};
const sequence = {
  promptIds: Array.from({ length: 161 }, (_, i) => (i * 7) % 2048),
  responseIds: Array.from({ length: 40 }, (_, i) => (i * 11) % 2048),
};

/** A backend that takes the memory that it would on the software adapter, and computes nothing: it reads zeros. */
async function accountant(options: WebGpuOptions = {}): Promise<WebGpuBackend> {
  const { device, software, features } = await requestDevice(await openGpu());
  device.destroy();
  const compute = { ...(await requestDevice(await openNullGpu())), software, features };
  const made = await createWebGpuBackend(compute, options);
  // What nothing has written is chance, and a log-probability that is no number is refused.
  return { ...made, read: async (...all) => (await made.read(...all)).fill(0) };
}

let backend: WebGpuBackend;
/** For what a model takes back once it is read. */
let computing: WebGpuBackend;
beforeAll(async () => {
  backend = await accountant();
  computing = await createWebGpuBackend(await openGpu());
});
afterAll(() => {
  backend.dispose();
  computing.dispose();
});

const KINDS = ["score", "train", "recompute"] as const;

/** What the plan says of a job over what the job took, and the plan in words. */
async function planned(
  b: WebGpuBackend,
  config: ModelConfig,
  kind: (typeof KINDS)[number],
  software: boolean,
): Promise<[number, string]> {
  const model = LanguageModel.create(b, config, 1);
  const optimizer = kind === "score" ? null : new AdamW(model);
  if (optimizer) model.zeroGradients();
  b.takePeak();
  if (optimizer)
    await model.backward([sequence], (_, l) => l.map(() => 1), { recompute: kind === "recompute" });
  else await model.score([sequence]);
  const took = b.takePeak();
  optimizer?.dispose();
  model.dispose();
  const plan = planMemory(config, {
    ...{ ...job, kind: kind === "score" ? "score" : "train" },
    ...{ recompute: kind === "recompute", software },
  });
  expect(b.live()).toEqual({ tensors: 0, bytes: 0 });
  return [plan.total / took, describePlan(plan)];
}

test.each(KINDS)("%s: the plan is within 10 % of what a job took", async (kind) => {
  const [share, plan] = await planned(backend, sizes(), kind, true);
  expect(share, plan).toBeGreaterThan(0.9);
  expect(share, plan).toBeLessThan(1.1);
});

test.each(["top-k", "full-vocabulary"] as const)(
  "a step under the signal %s, and its scores: the plan is near what they took",
  async (compared) => {
    // A wide vocabulary and a long response, so that what is compared is most of it.
    const config = sizes({ vocab_size: 6000, num_hidden_layers: 1 });
    const [prompt, count] = [sequence.promptIds.slice(0, 4), 160];
    const responseIds = Array.from({ length: count }, (_, i) => (i * 11) % 2048);
    const long = { promptIds: prompt, responseIds };
    const model = LanguageModel.create(computing, config, 1);
    const sizesOf = { longestSequence: 164, packTokens: 164, responseRows: count, compared };
    computing.takePeak();
    const [scores] = await model.scoreDistributions(
      [long],
      compared === "top-k" ? { topK: 32 } : { distribution: true },
    );
    const scoring = planMemory(config, { ...job, ...sizesOf });
    const ratio = scoring.total / computing.takePeak();
    expect(ratio, describePlan(scoring)).toBeGreaterThan(0.85);
    expect(ratio, describePlan(scoring)).toBeLessThan(1.2);
    const optimizer = new AdamW(model);
    model.zeroGradients();
    computing.takePeak();
    const weights = new Float32Array(count).fill(1);
    const { distribution, topIds, topLogprobs } = scores!;
    const target = distribution
      ? { weights, logprobs: distribution }
      : { weights, logprobs: topLogprobs!, ids: topIds! };
    await model.backwardDivergence([long], [target], { recompute: false });
    const training = planMemory(config, { ...job, ...sizesOf, kind: "train" });
    const share = training.total / computing.takePeak();
    expect(share, describePlan(training)).toBeGreaterThan(0.85);
    expect(share, describePlan(training)).toBeLessThan(1.2);
    optimizer.dispose();
    model.dispose();
  },
);

test("formats, limits and packs: numbers follow the sizes", () => {
  const config = sizes({
    vocab_size: 151_936,
    hidden_size: 4096,
    intermediate_size: 12_288,
    num_hidden_layers: 36,
    num_attention_heads: 32,
    num_key_value_heads: 8,
    head_dim: 128,
    tie_word_embeddings: false,
  });
  const large = { ...job, packTokens: 4096, longestSequence: 4096, responseRows: 512, software: false };
  const weights = (choice: PlannedWorkload["weights"]) =>
    planMemory(config, { ...large, weights: choice }).items[0]!.bytes / 8_190_735_360;
  // Bytes a parameter of Qwen3-8B.
  expect(weights("f32")).toBeCloseTo(4, 2);
  expect(weights("auto")).toBeCloseTo(2, 2);
  expect(weights("int8")).toBeCloseTo(33 / 32, 2);
  expect(weights("int4")).toBeGreaterThan(0.5625);
  expect(weights("int4")).toBeLessThan(0.65);
  const training = planMemory(config, { ...large, kind: "train" });
  expect(training.total).toBeGreaterThan(16 * 8.19e9);
  expect(() => checkPlan(training, 96 * 2 ** 30)).toThrow(
    /needs more than the 96\.0 GiB that it may take: memory: about \d+\.\d GiB \(optimizer state 61\.0 GiB, /,
  );
  const frozen = { ...large, weights: "auto" as const, longestSequence: 1000 };
  const whole = planMemory(config, { ...frozen, packTokens: 16_384 }).total;
  const fitting = (limit: number) =>
    fittingPack(config, (packTokens) => ({ ...frozen, packTokens }), limit, 16_384);
  expect([whole, whole - 1, 0].map(fitting)).toEqual([16_384, 8192, 1000]);
});

/** Heads as wide as in Qwen3.5-0.8B for its size, so that what the delta rule takes beside its inputs counts. */
const linear = () =>
  sizes({
    model_type: "qwen3_5_text",
    num_hidden_layers: 4,
    linear_num_key_heads: 4,
    linear_num_value_heads: 4,
    linear_key_head_dim: 32,
    linear_value_head_dim: 32,
    linear_conv_kernel_dim: 4,
    rope_parameters: { rope_type: "default", rope_theta: 1e6, partial_rotary_factor: 0.5 },
  });

test.each(KINDS.flatMap((kind) => (["tokens", "chunks"] as const).map((form) => [kind, form] as const)))(
  "Qwen3.5, %s, the delta rule by %s: the plan is near what a job took",
  async (kind, deltaForm) => {
    const b = await accountant({ deltaForm });
    const [share, plan] = await planned(b, linear(), kind, deltaForm === "tokens");
    b.dispose();
    expect(share, plan).toBeGreaterThan(0.85);
    expect(share, plan).toBeLessThan(1.15);
  },
);

test.each(
  (["train", "recompute"] as const).flatMap((kind) =>
    (["tokens", "chunks"] as const).map((form) => [kind, form] as const),
  ),
)(
  "Qwen3.5, %s, the delta rule by %s: decisions with a common beginning take what the plan says at the most",
  async (kind, deltaForm) => {
    const b = await accountant({ deltaForm });
    const model = LanguageModel.create(b, linear(), 1);
    const optimizer = new AdamW(model);
    model.zeroGradients();
    const alike = Array.from({ length: 6 }, (_, i) => ({
      ...sequence,
      promptIds: [...sequence.promptIds, i],
    }));
    let computed = 0;
    b.takePeak();
    await model.backward(alike, (_, l) => l.map(() => 1), {
      recompute: kind === "recompute",
      maxTokensPerPack: 1000,
      onComputed: (tokens) => {
        computed = tokens.computed;
      },
    });
    const took = b.takePeak();
    optimizer.dispose();
    model.dispose();
    b.dispose();
    expect(computed).toBe(201 + 5 * 40);
    const plan = planMemory(linear(), {
      ...{ ...job, kind: "train", recompute: kind === "recompute", software: deltaForm === "tokens" },
      ...{ packTokens: 201 + 5 * (40 + branchTokens(linear(), kind === "recompute")), responseRows: 240 },
    });
    expect(took / plan.total, describePlan(plan)).toBeLessThan(1.15);
  },
);
