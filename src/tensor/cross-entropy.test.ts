import { expect, test } from "vitest";
import { openModelFixture } from "../../test/model-fixtures.ts";
import { crossEntropyBackward } from "./cross-entropy.ts";
import { LanguageModel } from "./language-model.ts";
import { createReferenceBackend } from "./reference/index.ts";

const sequences = [
  { promptIds: [5], responseIds: [8, 9] },
  { promptIds: [30, 2], responseIds: [31] },
];

test("the loss is the weighted mean of −log p, and its slope is −w / Σ w", async () => {
  const backend = createReferenceBackend();
  const model = await LanguageModel.load(backend, openModelFixture("qwen3-a"));
  const scored = await model.score(sequences);
  const weights = [[0.3, 1], [2]];
  const { loss, tokens, logprobs } = await crossEntropyBackward(model, sequences, (i) => weights[i]!);
  expect(tokens).toBe(3);
  expect(logprobs).toEqual(scored);
  const [a, b] = scored;
  expect(loss).toBeCloseTo(-(0.3 * a![0]! + a![1]! + 2 * b![0]!) / 3.3, 6);
  const gradient = await backend.read(model.gradients.get("model.norm.weight")!);
  model.zeroGradients();
  await model.backward(sequences, (i) => Float32Array.from(weights[i]!, (weight) => -weight / 3.3));
  expect(await backend.read(model.gradients.get("model.norm.weight")!)).toEqual(gradient);
  const mean = await crossEntropyBackward(model, sequences);
  expect(mean.loss).toBeCloseTo(-(a![0]! + a![1]! + b![0]!) / 3, 6);
});

test("weights that do not fit are refused", async () => {
  const backend = createReferenceBackend();
  const model = await LanguageModel.load(backend, openModelFixture("qwen3-a"));
  await expect(crossEntropyBackward(model, sequences, () => [1])).rejects.toThrow(
    "1 weights for the 2 tokens",
  );
  await expect(crossEntropyBackward(model, sequences, (i) => [[0, 0], [0]][i]!)).rejects.toThrow("nothing");
  await expect(crossEntropyBackward(model, [])).rejects.toThrow("nothing");
});
