import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { GoldenFile } from "../../../test/golden-file.ts";
import { forwardSequences } from "../../../test/golden-forward.ts";
import { openModelFixture } from "../../../test/model-fixtures.ts";
import { relativeError } from "../../../test/support/relative-error.ts";
import { openGpu } from "../../../test/webgpu.ts";
import type { Backend } from "../backend.ts";
import { LanguageModel } from "../language-model.ts";
import type { WeightChoice } from "../load-weights.ts";
import { createWebGpuBackend, type WebGpuBackend } from "./index.ts";

/** What f16 operands may cost: of a log-probability, and of a gradient's norm (docs/performance.md). */
const MOST_LOGPROB = 2e-2;
const MOST_GRADIENT = 3e-2;

/** Longer than a chunk, and shorter. */
const sequences = [
  [150, 12],
  [20, 9],
].map(([prompt = 0, response = 0], n) => ({
  promptIds: Array.from({ length: prompt }, (_, i) => (i * i * 7 + n + 3) % 1800),
  responseIds: Array.from({ length: response }, (_, i) => (i * 35 + 1) % 1800),
}));

/** f16 in memory and f32 in registers, which every adapter can; the products of matrix units have the same operands. */
describe.each(["tokens", "chunks"] as const)(
  "Qwen3.5 with f16 operands, the delta rule by %s",
  (deltaForm) => {
    let full: WebGpuBackend;
    let half: WebGpuBackend;
    beforeAll(async () => {
      full = await createWebGpuBackend(await openGpu());
      half = await createWebGpuBackend(await openGpu(), { compute: "f16", f16: "packed", deltaForm });
    });
    afterAll(() => {
      full.dispose();
      half.dispose();
    });

    const open = (backend: Backend, weights: WeightChoice) =>
      LanguageModel.load(backend, openModelFixture("qwen3_5"), { weights });

    // Weights come before the rule: with one of its forms in every format is enough.
    test.each(
      deltaForm === "chunks" ? (["f32", "f16", "bf16", "int8", "int4"] as const) : (["f32"] as const),
    )(
      "%s weights: log-probabilities as with f32 operands",
      async (weights) => {
        const [exact, model] = [await open(full, weights), await open(half, weights)];
        const [expected, found] = [await exact.score(sequences), await model.score(sequences)];
        let worst = 0;
        expected.forEach((row, i) => {
          row.forEach((value, j) => {
            worst = Math.max(worst, Math.abs(value - found[i]![j]!));
          });
        });
        expect(worst).toBeLessThan(MOST_LOGPROB);
        exact.dispose();
        model.dispose();
        expect([full.live().bytes, half.live().bytes]).toEqual([0, 0]);
      },
      120_000,
    );

    test("the golden sequences, of up to 940 tokens", async () => {
      const goldens = await GoldenFile.open(openModelFixture("goldens/qwen3_5"), "forward.safetensors");
      const work = await forwardSequences(goldens);
      const model = await open(half, "f32");
      for (const [i, row] of (await model.score(work)).entries()) {
        const expected = await goldens.numbers(`p${i}/logprobs`);
        const worst = expected.reduce((most, value, j) => Math.max(most, Math.abs(value - row[j]!)), 0);
        expect(worst, `sequence ${i}`).toBeLessThan(MOST_LOGPROB);
      }
      model.dispose();
    });

    test("gradients as with f32 operands", async () => {
      const gradients = async (backend: Backend) => {
        const model = await open(backend, "f32");
        await model.backward(sequences, (_, logprobs) => logprobs.map(() => -1 / 21));
        const values = new Map<string, Float32Array>();
        for (const [name, t] of model.gradients) values.set(name, await backend.read(t));
        model.dispose();
        return values;
      };
      const [expected, found] = [await gradients(full), await gradients(half)];
      for (const [name, values] of expected)
        expect(relativeError(found.get(name)!, values), name).toBeLessThan(MOST_GRADIENT);
    });
  },
);
