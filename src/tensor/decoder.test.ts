import { expect, test } from "vitest";
import { openGpu } from "../../test/webgpu.ts";
import { uniforms } from "../core/seeded.ts";
import type { Backend } from "./backend.ts";
import type { ModelConfig } from "./config.ts";
import type { DecodeRequest } from "./decoder.ts";
import { LanguageModel } from "./language-model.ts";
import type { Qwen3Config } from "./qwen3-config.ts";
import { createReferenceBackend } from "./reference/index.ts";
import { createWebGpuBackend, requestDevice } from "./webgpu/index.ts";

const config: Qwen3Config = {
  architecture: "qwen3",
  vocabularySize: 2100,
  hiddenSize: 32,
  intermediateSize: 48,
  layers: 2,
  heads: 4,
  keyValueHeads: 2,
  headSize: 16,
  ropeTheta: 10_000,
  normEpsilon: 1e-6,
  tied: true,
  maxPositions: 400,
};
/** With linear layers beside full attention. */
const hybrid: ModelConfig = {
  ...config,
  architecture: "qwen3_5",
  layers: 3,
  rotarySize: 8,
  mixers: ["linear_attention", "full_attention", "linear_attention"],
  deltaNet: { keyHeads: 2, valueHeads: 4, keySize: 8, valueSize: 8, kernel: 4 },
};
const STOP = 7;
const DRAWABLE = [
  [0, 50],
  [60, 2090],
] as const;

/** Prompts of many lengths with a beginning in common, as the decisions of episodes have. */
function prompts(count: number, seed: number): DecodeRequest[] {
  const next = uniforms(seed);
  const id = () => Math.floor(next() * 2000);
  const shared = Array.from({ length: 9 }, id);
  return Array.from({ length: count }, (_, n) => ({
    promptIds: [...shared, ...Array.from({ length: 1 + Math.floor(next() * 70) }, id)],
    maxTokens: 1 + Math.floor(next() * 12),
    temperature: n % 3 === 0 ? 0 : 0.7,
    ...(n % 3 === 2 ? { topK: 40, topP: 0.8 } : {}),
    uniform: uniforms(100 + n),
    stopIds: [STOP],
    drawable: DRAWABLE,
  }));
}

/** Sharper than new weights are, so that draws depend on what came before. */
function sharpModel(backend: Backend, of: ModelConfig = config): LanguageModel {
  const model = LanguageModel.create(backend, of, 3);
  const next = uniforms(11);
  for (const t of model.parameters.values()) {
    if (t.shape.length !== 2) continue;
    const [rows = 0, columns = 0] = t.shape;
    backend.write(
      t,
      Float32Array.from({ length: rows * columns }, () => next() - 0.5),
    );
  }
  return model;
}

/** Sequences together: the kernels that GPUs have take long on the software adapter. */
const COUNTS: Readonly<Record<string, number>> = { "WebGPU as on a GPU": 5, "WebGPU as on a GPU, f16": 3 };

const backends: Record<string, () => Promise<Backend>> = {
  "plain TypeScript": async () => createReferenceBackend(),
  WebGPU: async () => createWebGpuBackend(await openGpu()),
  // The kernels that GPUs have, on the software adapter.
  "WebGPU as on a GPU": async () =>
    createWebGpuBackend({ ...(await requestDevice(await openGpu())), software: false }, { tuning: false }),
  // With keys and values in f16, too.
  "WebGPU as on a GPU, f16": async () =>
    createWebGpuBackend(
      { ...(await requestDevice(await openGpu())), software: false },
      { tuning: false, compute: "f16", f16: "packed" },
    ),
};

const MODELS = { Qwen3: config, "Qwen3.5": hybrid };

test.each(
  Object.keys(backends)
    .flatMap((name) => Object.entries(MODELS).map(([of, config]) => ({ name, of, config })))
    // Its linear layers have the same kernels everywhere, and its others those of f16.
    .filter(({ name, config }) => config !== hybrid || name !== "WebGPU as on a GPU"),
)("prompts that advance together give what each gives alone, twice, $of, $name", async ({ name, config }) => {
  const backend = await backends[name]!();
  const before = backend.live();
  const count = COUNTS[name] ?? 7;
  const plain = createReferenceBackend();
  const [model, alone] = [sharpModel(backend, config), sharpModel(plain, config)];
  let compared = 0;
  for (const seed of [1, 2]) {
    const requests = prompts(count, seed);
    const seen: number[] = [];
    const together = await model.generateAll(requests, { onProgress: (done) => seen.push(done) });
    expect(seen).toEqual(requests.map((_, i) => i + 1));
    for (const [n, { promptIds, ...options }] of prompts(count, seed).entries()) {
      const one = await alone.generate(promptIds, options);
      const { ids, logprobs, stopped } = together[n]!;
      // Operands in f16 may draw a neighbour of the token, and what follows it is another text.
      const parted = backend.compute === "f16" ? one.ids.findIndex((id, i) => id !== ids[i]) : -1;
      const same = parted < 0 ? one.ids.length : parted;
      compared += same;
      expect(ids.slice(0, same), `prompt ${n}`).toEqual(one.ids.slice(0, same));
      if (parted < 0) expect({ length: ids.length, stopped }).toEqual({ length: same, stopped: one.stopped });
      // A state carries the errors of f16 operands on, as in scoring.
      const half = config === hybrid ? 1.5e-2 : 5e-3;
      const bound = backend.compute === "f16" ? half : 2e-4;
      for (const [i, logprob] of one.logprobs.slice(0, same).entries())
        expect(Math.abs(logprobs[i]! - logprob)).toBeLessThan(bound);
    }
  }
  expect(compared).toBeGreaterThan(20);
  model.dispose();
  expect(backend.live()).toEqual(before);
  backend.dispose();
  plain.dispose();
});

test.each([1, 2, 4])(
  "a model with states and kernels of %i continues prompts of one token, of several passes, and more than there are places for",
  async (kernel) => {
    const backend = createReferenceBackend();
    const small = { ...backend, packTokens: 50 };
    const of = { ...hybrid, vocabularySize: 300, deltaNet: { ...hybrid.deltaNet, kernel } };
    const [model, alone] = [sharpModel(small, of), sharpModel(backend, of)];
    const requests = [1, 130, 1, 70, 49, 2].map((length, n) => ({
      promptIds: Array.from({ length }, (_, i) => (i * 7 + n) % 300),
      maxTokens: [5, 3, 9, 1, 6, 4][n]!,
      temperature: 0,
    }));
    const many = Array.from({ length: kernel === 4 ? 12 : 1 }, () => requests).flat();
    for (const given of [requests.slice(0, 2), requests, many.reverse()]) {
      const together = await model.generateAll(given);
      for (const [n, { promptIds, ...options }] of given.entries()) {
        const one = await alone.generate(promptIds, options);
        expect(together[n]!.ids, `prompt ${n}`).toEqual(one.ids);
        for (const [i, logprob] of one.logprobs.entries())
          expect(Math.abs(together[n]!.logprobs[i]! - logprob)).toBeLessThan(1e-5);
      }
    }
    for (const each of [model, alone]) each.dispose();
    expect(backend.live()).toEqual({ tensors: 0, bytes: 0 });
  },
);

test("a model with states goes on from where two prompts of an episode parted, and forgets it with its parameters", async () => {
  const backend = createReferenceBackend();
  let computed = 0;
  const counted: Backend = {
    ...backend,
    embedding: (table, ids) => {
      computed += ids.shape[0]!;
      return backend.embedding(table as never, ids as never);
    },
  };
  const [model, alone] = [sharpModel(counted, hybrid), sharpModel(backend, hybrid)];
  const history = Array.from({ length: 200 }, (_, i) => (i * 7) % 2000);
  /** Each decision has 40 more tokens of history, and ends in the same question. */
  const prompt = (turn: number) => [...history.slice(0, 40 * turn), 3, 4, 5];
  const tokensOf = async (promptIds: number[]) => {
    computed = 0;
    const request = { promptIds, maxTokens: 2, temperature: 0 };
    const [together] = await model.generateAll([request]);
    expect(together!.ids).toEqual((await alone.generate(promptIds, request)).ids);
    return computed;
  };
  // Two steps take the prompt's last token and the first one drawn.
  expect(await tokensOf(prompt(1))).toBe(42 + 2);
  expect(await tokensOf(prompt(2))).toBe(82 + 2);
  expect(await tokensOf(prompt(3))).toBe(122 - 40 + 2);
  expect(await tokensOf(prompt(4))).toBe(162 - 80 + 2);
  // The same again, but for its last token; then one that leaves the episode early.
  expect(await tokensOf(prompt(4))).toBe(162 - 120 + 2);
  expect(await tokensOf(prompt(4))).toBe(2);
  expect(await tokensOf(prompt(2))).toBe(82 + 2);
  expect(await tokensOf([...prompt(2), 9])).toBe(83 - 80 + 2);
  model.forgetPrefixes();
  expect(await tokensOf(prompt(2))).toBe(82 + 2);
  for (const each of [model, alone]) each.dispose();
  expect(backend.live()).toEqual({ tensors: 0, bytes: 0 });
});

test("a small model on a GPU takes each sequence on in one dispatch, with the parameters of the moment", async () => {
  const backend = await backends["WebGPU as on a GPU"]!();
  const decoded: number[] = [];
  const { wholeDecoder } = backend;
  backend.wholeDecoder = (model) => {
    const whole = wholeDecoder!(model)!;
    const decode: typeof whole.decode = (...work) => {
      decoded.push(work[3]);
      whole.decode(...work);
    };
    return { ...whole, decode };
  };
  const before = backend.live();
  const plain = createReferenceBackend();
  const [model, alone] = [sharpModel(backend), sharpModel(plain)];
  // Temperatures of 0 and above; more tokens than one look takes; another length, for which the cache grows.
  const unbounded = (seed: number) =>
    prompts(4, seed).map(({ topK: _, topP: __, ...request }, n) => ({
      ...request,
      promptIds: seed === 2 && n === 0 ? Array.from({ length: 260 }, (_, i) => i + 20) : request.promptIds,
      maxTokens: n === 1 ? 70 : request.maxTokens,
    }));
  for (const seed of [1, 1, 2]) {
    const together = await model.generateAll(unbounded(seed));
    for (const [n, { promptIds, ...options }] of unbounded(seed).entries()) {
      const one = await alone.generate(promptIds, options);
      const { ids, logprobs, stopped } = together[n]!;
      expect({ ids, stopped }, `prompt ${n}`).toEqual({ ids: one.ids, stopped: one.stopped });
      for (const [i, logprob] of one.logprobs.entries())
        expect(Math.abs(logprobs[i]! - logprob)).toBeLessThan(2e-4);
    }
    // As an update does: every parameter moves, and what was computed with the old ones is forgotten.
    for (const each of [model, alone]) {
      for (const [name, t] of each.parameters)
        if (t.shape.length === 2) {
          const next = uniforms(name.length + decoded.length);
          each.backend.write(
            t,
            Float32Array.from({ length: t.shape[0]! * t.shape[1]! }, () => next() - 0.5),
          );
        }
      each.forgetPrefixes();
    }
  }
  expect(decoded).toContain(64);
  expect(decoded.length).toBeGreaterThanOrEqual(4);
  model.dispose();
  expect(backend.live()).toEqual(before);
  backend.dispose();
  plain.dispose();
});

test("bounded draws keep to their bounds", async () => {
  const backend = createReferenceBackend();
  const model = sharpModel(backend);
  const [request] = prompts(1, 1);
  const uniform = () => 0.9;
  const [greedy] = await model.generateAll([{ ...request!, temperature: 0 }]);
  const [bounded] = await model.generateAll([{ ...request!, temperature: 5, topK: 1, uniform }]);
  expect(bounded!.ids).toEqual(greedy!.ids);
  await expect(model.generateAll([{ ...request!, topK: 0, uniform }])).rejects.toThrow("top-k 0 is not");
  await expect(model.generateAll([{ ...request!, topP: 1.5, uniform }])).rejects.toThrow("top-p 1.5 is not");
  model.dispose();
  backend.dispose();
});
