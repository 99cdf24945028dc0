/** What sequences share is computed once, and nothing else changes: log-probabilities, gradients, memory. */

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import fc from "../../test/support/property.ts";
import { openGpu } from "../../test/webgpu.ts";
import type { Backend } from "./backend.ts";
import type { ModelConfig } from "./config.ts";
import { LanguageModel } from "./language-model.ts";
import type { ModelWork, Sequence } from "./packing.ts";
import { createReferenceBackend } from "./reference/index.ts";
import { createWebGpuBackend } from "./webgpu/index.ts";

const config: ModelConfig = {
  architecture: "qwen3",
  vocabularySize: 19,
  hiddenSize: 8,
  intermediateSize: 12,
  layers: 2,
  heads: 4,
  keyValueHeads: 2,
  headSize: 8,
  ropeTheta: 10_000,
  normEpsilon: 1e-6,
  tied: true,
  maxPositions: 60,
};

/** The same with linear layers beside full attention. */
const hybrid: ModelConfig = {
  ...config,
  architecture: "qwen3_5",
  layers: 3,
  rotarySize: 4,
  mixers: ["linear_attention", "full_attention", "linear_attention"],
  deltaNet: { keyHeads: 2, valueHeads: 4, keySize: 4, valueSize: 8, kernel: 4 },
};

const WHOLE = Infinity;
const ids = (maxLength: number, minLength = 0) =>
  fc.array(fc.integer({ min: 0, max: 18 }), { minLength, maxLength });

/** Sequences that mostly continue one another. */
const families: fc.Arbitrary<Sequence[]> = fc
  .tuple(
    fc.array(ids(14, 6), { minLength: 1, maxLength: 2 }),
    fc.array(fc.record({ stem: fc.nat(1), cut: fc.nat(14), tail: ids(5, 1), response: ids(4) }), {
      minLength: 1,
      maxLength: 7,
    }),
  )
  .map(([stems, parts]) =>
    parts.map(({ stem, cut, tail, response }) => ({
      promptIds: [...stems[stem % stems.length]!.slice(0, cut), ...tail],
      responseIds: response,
    })),
  );

const packSizes = fc.constantFrom(1, 12, 25, 1000);

function expectClose(a: ArrayLike<number>, b: ArrayLike<number>, tolerance: number): void {
  expect(a.length).toBe(b.length);
  for (let i = 0; i < b.length; i++) expect(Math.abs(a[i]! - b[i]!)).toBeLessThanOrEqual(tolerance);
}

const slopes = (index: number, logprobs: Float32Array) => logprobs.map((_, j) => 0.3 - 0.1 * index + 0.2 * j);

async function gradients(model: LanguageModel, sequences: readonly Sequence[], work: ModelWork) {
  model.zeroGradients();
  const logprobs = await model.backward(sequences, slopes, work);
  const all = [];
  for (const t of model.gradients.values()) all.push(await model.backend.read(t));
  return { logprobs, all };
}

const BACKENDS = [
  { kind: "reference", runs: 60, open: async (): Promise<Backend> => createReferenceBackend() },
  {
    kind: "software adapter",
    runs: 8,
    open: async (): Promise<Backend> => createWebGpuBackend(await openGpu()),
  },
];
const MODELS = [
  { name: "Qwen3", config },
  { name: "Qwen3.5", config: hybrid },
];

describe.each(BACKENDS.flatMap((backend) => MODELS.map((model) => ({ ...backend, ...model }))))(
  "$name, $kind",
  ({ kind, open, runs, config }) => {
    const cancels = config === hybrid && kind === "software adapter";
    let model: LanguageModel;
    beforeAll(async () => {
      model = LanguageModel.create(await open(), config, 7);
      // New weights are so small that attention hardly matters.
      for (const [name, t] of model.parameters)
        if (t.shape.length >= 2 && !name.includes("embed"))
          model.backend.write(
            t,
            (await model.backend.read(t)).map((value) => 20 * value),
          );
    });
    afterAll(() => {
      model.dispose();
      expect(model.backend.live()).toEqual({ tensors: 0, bytes: 0 });
      model.backend.dispose();
    });

    test("scores", async () => {
      await fc.assert(
        fc.asyncProperty(families, packSizes, async (sequences, maxTokensPerPack) => {
          const before = model.backend.live();
          const whole = await model.score(sequences, { shortestPrefix: WHOLE });
          const shared = await model.score(sequences, { maxTokensPerPack, shortestPrefix: 3 });
          for (const [i, row] of whole.entries()) expectClose(shared[i]!, row, 2e-5);
          expect(model.backend.live().tensors - before.tensors).toBeLessThanOrEqual(2);
        }),
        { numRuns: runs },
      );
    });

    test("scores with prefixes kept from call to call", async () => {
      model.keepPrefixes(6000);
      await fc.assert(
        fc.asyncProperty(families, families, packSizes, async (first, second, maxTokensPerPack) => {
          for (const sequences of [first, second, [...second, ...first]]) {
            const shared = await model.score(sequences, { maxTokensPerPack, shortestPrefix: 3 });
            const whole = await model.score(sequences, { shortestPrefix: WHOLE });
            for (const [i, row] of whole.entries()) expectClose(shared[i]!, row, 2e-5);
          }
        }),
        { numRuns: runs / 2 },
      );
      model.keepPrefixes(0);
    });

    test("gradients", async () => {
      await fc.assert(
        fc.asyncProperty(families, packSizes, async (sequences, maxTokensPerPack) => {
          const whole = await gradients(model, sequences, { shortestPrefix: WHOLE });
          const shared = await gradients(model, sequences, { maxTokensPerPack, shortestPrefix: 3 });
          for (const [i, row] of whole.logprobs.entries()) expectClose(shared.logprobs[i]!, row, 2e-5);
          const sizes = whole.all.map((values) => Math.hypot(...values));
          // The decays' gradients are sums that cancel: on the adapter, their f32 rounding is that of all gradients.
          const rounding = cancels ? 1e-6 * Math.hypot(...sizes) : 1e-6;
          for (const [i, values] of whole.all.entries()) {
            const off = Math.hypot(...values.map((value, j) => value - shared.all[i]![j]!));
            expect(off).toBeLessThanOrEqual(2e-5 * sizes[i]! + rounding);
          }
        }),
        { numRuns: runs / 2 },
      );
    });
  },
);

const stem = Array.from({ length: 20 }, (_, i) => i % 19);
const decisions = [1, 2, 3, 4].map((id) => ({ promptIds: [...stem, id], responseIds: [5, 6] }));

test("tokens computed are counted, and a second call takes what the first kept", async () => {
  const backend = createReferenceBackend();
  const model = LanguageModel.create(backend, config, 7);
  const counts: { given: number; computed: number }[] = [];
  const work: ModelWork = { shortestPrefix: 8, onComputed: (tokens) => counts.push(tokens) };
  await model.score(decisions, work);
  expect(counts.splice(0)).toEqual([{ given: 92, computed: 22 + 3 * 2 }]);
  const [tensors] = [backend.live().tensors];
  model.keepPrefixes(1e6);
  await model.score(decisions, work);
  expect(backend.live().tensors).toBe(tensors + 4);
  await model.score(decisions, work);
  expect(counts.splice(0)).toEqual([
    { given: 92, computed: 28 },
    { given: 92, computed: 4 * 2 },
  ]);
  model.forgetPrefixes();
  expect(backend.live().tensors).toBe(tensors);
  await model.score(decisions, { ...work, maxTokensPerPack: 24 });
  expect(counts).toEqual([
    { given: 46, computed: 24 },
    { given: 92, computed: 28 },
  ]);
  model.dispose();
  expect(backend.live().tensors).toBe(0);
});

test("when nothing is to be kept, a prefix that several packs need is given up after the last of them", async () => {
  const backend = createReferenceBackend();
  const model = LanguageModel.create(backend, config, 7);
  await model.score(decisions.slice(0, 1));
  const before = backend.live();
  await model.score(decisions, { shortestPrefix: 8, maxTokensPerPack: 22 });
  expect(backend.live()).toEqual(before);
});
