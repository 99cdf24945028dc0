import { expect, test } from "vitest";
import { MemoryFolder } from "../../test/memory-folder.ts";
import { openModelFixture } from "../../test/model-fixtures.ts";
import { AdamW } from "./adamw.ts";
import { crossEntropyBackward } from "./cross-entropy.ts";
import { LanguageModel } from "./language-model.ts";
import { createReferenceBackend } from "./reference/index.ts";

const sequences = [
  { promptIds: [5, 6, 7], responseIds: [8, 9] },
  { promptIds: [30], responseIds: [31, 32, 33] },
];

const settings = {
  learningRate: 1e-3,
  beta1: 0.9,
  beta2: 0.999,
  adamEpsilon: 1e-8,
  weightDecay: 0.01,
  maxGradNorm: 1,
};

async function train(model: LanguageModel, optimizer: AdamW, steps: number): Promise<number[]> {
  const losses: number[] = [];
  for (let i = 0; i < steps; i++) {
    model.zeroGradients();
    const { loss } = await crossEntropyBackward(model, sequences);
    losses.push(loss);
    await optimizer.step(settings);
  }
  return losses;
}

async function valuesOf(model: LanguageModel): Promise<Float32Array[]> {
  return Promise.all([...model.parameters.values()].map((t) => model.backend.read(t)));
}

/** As toEqual, which takes seconds for large arrays. */
function sameValues(a: Float32Array[], b: Float32Array[]): boolean {
  return a.length === b.length && a.every((row, n) => row.every((value, i) => Object.is(value, b[n]![i])));
}

test("cross-entropy falls, and a saved run goes on to the same numbers bit for bit", async () => {
  const backend = createReferenceBackend();
  const model = await LanguageModel.load(backend, openModelFixture("qwen3-a"));
  const optimizer = new AdamW(model);
  const losses = await train(model, optimizer, 3);
  expect(losses[2]).toBeLessThan(losses[0]!);
  const folder = new MemoryFolder();
  await model.save(folder);
  await optimizer.save(folder);
  await train(model, optimizer, 2);

  const resumed = await LanguageModel.load(backend, folder);
  const continued = new AdamW(resumed);
  await continued.load(folder);
  expect(continued.steps).toBe(3);
  await train(resumed, continued, 2);
  expect(continued.steps).toBe(5);
  expect(sameValues(await valuesOf(resumed), await valuesOf(model))).toBe(true);
  for (const part of [optimizer, continued, model, resumed]) part.dispose();
  expect(backend.live()).toEqual({ tensors: 0, bytes: 0 });
});

test("a learning rate of 0 changes nothing; a gradient that is not finite is refused and changes nothing", async () => {
  const backend = createReferenceBackend();
  const model = await LanguageModel.load(backend, openModelFixture("qwen3-a"));
  const optimizer = new AdamW(model);
  await expect(optimizer.step(settings)).rejects.toThrow("no gradients");
  const before = await valuesOf(model);
  await crossEntropyBackward(model, sequences);
  await optimizer.step({ ...settings, learningRate: 0 });
  expect(sameValues(await valuesOf(model), before)).toBe(true);
  backend.fill(model.gradients.get("model.norm.weight")!, NaN);
  await expect(optimizer.step(settings)).rejects.toThrow("the gradient norm is NaN; no update was applied");
  expect(sameValues(await valuesOf(model), before)).toBe(true);
  expect(optimizer.steps).toBe(1);
});

test("faults of a saved optimizer are named and leave a new optimizer", async () => {
  const backend = createReferenceBackend();
  const model = await LanguageModel.load(backend, openModelFixture("qwen3-a"));
  const optimizer = new AdamW(model);
  await expect(optimizer.load(new MemoryFolder("m"))).rejects.toThrow(
    "m/optimizer.safetensors: this file is missing",
  );
  const other = await LanguageModel.load(backend, openModelFixture("qwen3-b"));
  const folder = new MemoryFolder("m");
  await new AdamW(other).save(folder);
  await expect(optimizer.load(folder)).rejects.toThrow("the model has no such parameter");
  await expect(new AdamW(other).load(folder)).resolves.toBeUndefined();
  folder.set("optimizer.safetensors", folder.text("optimizer.safetensors").replace('"steps"', '"stops"'));
  await expect(optimizer.load(folder)).rejects.toThrow(/m\/optimizer\.safetensors/);
  expect(optimizer.steps).toBe(0);
});

test("a moment that is not finite is refused, and no moment of that file stays", async () => {
  const backend = createReferenceBackend();
  const model = await LanguageModel.load(backend, openModelFixture("qwen3-a"));
  const optimizer = new AdamW(model);
  await train(model, optimizer, 1);
  const folder = new MemoryFolder("m");
  await optimizer.save(folder);
  const bytes = folder.files.get("optimizer.safetensors")!;
  new DataView(bytes.buffer).setFloat32(bytes.length - 4, NaN, true);
  await expect(optimizer.load(folder)).rejects.toThrow(
    "m/optimizer.safetensors, v/model.norm.weight: value 63 is NaN",
  );
  expect(optimizer.steps).toBe(0);
  const fresh = new AdamW(model);
  const [saved, expected] = [new MemoryFolder(), new MemoryFolder()];
  await optimizer.save(saved);
  await fresh.save(expected);
  const pair = [saved, expected].map(({ files }) => Buffer.from(files.get("optimizer.safetensors")!));
  expect(pair[0]!.equals(pair[1]!)).toBe(true);
});
