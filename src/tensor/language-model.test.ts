import { expect, test } from "vitest";
import { MemoryFolder } from "../../test/memory-folder.ts";
import { openModelFixture } from "../../test/model-fixtures.ts";
import { randomValues } from "../../test/random.ts";
import { InputError } from "../core/errors.ts";
import { LanguageModel } from "./language-model.ts";
import type { Sequence } from "./packing.ts";
import type { Qwen3Config } from "./qwen3-config.ts";
import { createReferenceBackend } from "./reference/index.ts";
import { elements } from "./shapes.ts";

const config: Qwen3Config = {
  architecture: "qwen3",
  vocabularySize: 23,
  hiddenSize: 8,
  intermediateSize: 12,
  layers: 2,
  heads: 4,
  keyValueHeads: 2,
  headSize: 6,
  ropeTheta: 10_000,
  normEpsilon: 1e-6,
  tied: true,
  maxPositions: 40,
};

const sequences: Sequence[] = [
  { promptIds: [1, 2, 3], responseIds: [4, 5] },
  { promptIds: [6], responseIds: [] },
  { promptIds: [7], responseIds: [8, 9, 10, 11] },
  { promptIds: [3, 3, 3, 3, 12], responseIds: [22] },
];

const slopes = (index: number, logprobs: Float32Array) => logprobs.map((_, j) => 0.3 * (index + 1) - 0.2 * j);

function newModel(changes: Partial<Qwen3Config> = {}) {
  const backend = createReferenceBackend();
  return { backend, model: LanguageModel.create(backend, { ...config, ...changes }, 7) };
}

async function gradientsOf(model: LanguageModel): Promise<Map<string, Float32Array>> {
  const all = new Map<string, Float32Array>();
  for (const [name, t] of model.gradients) all.set(name, await model.backend.read(t));
  return all;
}

/** As toEqual, which takes seconds for large arrays. */
function sameValues(a: Float32Array, b: Float32Array): boolean {
  return a.length === b.length && a.every((value, i) => Object.is(value, b[i]));
}

function expectClose(a: Float32Array, b: Float32Array, tolerance: number): void {
  expect(a.length).toBe(b.length);
  const largest = a.reduce((max, value, i) => Math.max(max, Math.abs(value - b[i]!)), 0);
  expect(largest).toBeLessThanOrEqual(tolerance);
}

test("packing changes nothing, and progress counts the tokens", async () => {
  const { model } = newModel();
  const together = await model.score(sequences);
  const progress: [number, number][] = [];
  const apart = await model.score(sequences, {
    maxTokensPerPack: 1,
    onProgress: (tokens, total) => progress.push([tokens, total]),
  });
  expect(together.map((row) => row.length)).toEqual([2, 0, 4, 1]);
  for (const [i, row] of together.entries()) expectClose(row, apart[i]!, 1e-6);
  expect(progress).toEqual([
    [5, 16],
    [10, 16],
    [16, 16],
  ]);
  expect(await model.score([])).toEqual([]);
  expect(await model.score([{ promptIds: [1], responseIds: [] }])).toEqual([new Float32Array(0)]);
});

test("hidden rows tell any token in a place as the distribution does", async () => {
  const { model } = newModel();
  const top = config.vocabularySize;
  const [scores] = await model.scoreDistributions([sequences[2]!], { topK: top, hidden: true });
  const { topIds, topLogprobs, hidden } = scores!;
  const width = config.hiddenSize;
  expect(hidden).toHaveLength(4 * width);
  for (let position = 0; position < 4; position++) {
    const row = hidden!.subarray(position * width, (position + 1) * width);
    const rows = Float32Array.from({ length: top * width }, (_, i) => row[i % width]!);
    const ids = [...topIds!.subarray(position * top, (position + 1) * top)];
    const logprobs = await model.headLogprobs(rows, ids);
    expectClose(logprobs, topLogprobs!.subarray(position * top, (position + 1) * top), 1e-5);
  }
  expect(await model.headLogprobs(new Float32Array(0), [])).toEqual(new Float32Array(0));
});

test.each([
  [true, sequences],
  [false, sequences],
  // No pass goes backward at all.
  [true, []],
] as const)(
  "tied %s: each gradient is told of once, from the head down, when it is final",
  async (tied, work) => {
    const { backend, model } = newModel({ tied });
    const told: { tensor: object; values: Float32Array }[] = [];
    await model.backward(work, slopes, {
      maxTokensPerPack: 1,
      onGradients: async (gradients) => {
        for (const tensor of gradients) told.push({ tensor, values: await backend.read(tensor) });
      },
    });
    const all = [...model.gradients];
    expect(told).toHaveLength(all.length);
    const names = told.map(({ tensor }) => all.find(([, t]) => t === tensor)![0]);
    expect(new Set(names).size).toBe(all.length);
    expect(names[0]).toBe("model.norm.weight");
    expect(names.at(-1)).toBe("model.embed_tokens.weight");
    for (const [i, name] of names.entries())
      expect(sameValues(told[i]!.values, await backend.read(model.gradients.get(name)!)), name).toBe(true);
  },
);

test.each([true, false])("gradients of a whole model, tied %s, against finite differences", async (tied) => {
  const { backend, model } = newModel({ tied });
  // Larger than new weights are, so that every parameter matters.
  let seed = 1;
  for (const t of model.parameters.values()) {
    const values = randomValues(elements(t.shape), seed++, 0.6);
    backend.write(t, t.shape.length === 1 ? values.map((value) => 1 + value) : values);
  }
  const logprobs = await model.backward(sequences, slopes);
  const objective = async (): Promise<number> => {
    const rows = await model.score(sequences);
    return rows.reduce(
      (sum, row, i) => slopes(i, logprobs[i]!).reduce((part, slope, j) => part + slope * row[j]!, sum),
      0,
    );
  };
  for (const [name, t] of model.parameters) {
    const values = await backend.read(t);
    const gradient = await backend.read(model.gradients.get(name)!);
    // Along the gradient itself: the slope of the objective there is the gradient's length.
    const length = Math.hypot(...gradient);
    expect(length, name).toBeGreaterThan(0);
    const step = 3e-3;
    const move = async (sign: number): Promise<number> => {
      const to = values.map((value, i) => value + (sign * step * gradient[i]!) / length);
      backend.write(t, to);
      return objective();
    };
    const slope = ((await move(1)) - (await move(-1))) / (2 * step);
    backend.write(t, values);
    expect(Math.abs(slope / length - 1), `${name}: ${slope} against ${length}`).toBeLessThan(0.03);
  }
});

test("gradients do not depend on packs or on what is computed again, and they accumulate", async () => {
  const { model } = newModel({ tied: false });
  await model.backward(sequences, slopes);
  const once = await gradientsOf(model);
  for (const work of [{ maxTokensPerPack: 3 }, { recompute: true }]) {
    model.zeroGradients();
    await model.backward(sequences, slopes, work);
    for (const [name, values] of await gradientsOf(model)) expectClose(values, once.get(name)!, 1e-5);
  }
  await model.backward(sequences, slopes);
  for (const [name, values] of await gradientsOf(model))
    expectClose(
      values,
      once.get(name)!.map((value) => 2 * value),
      2e-5,
    );
});

test("a slope of zero everywhere leaves the gradients at zero", async () => {
  const { model } = newModel();
  const logprobs = await model.backward(sequences, (_, row) => new Float32Array(row.length));
  expect(logprobs.map((row) => row.length)).toEqual([2, 0, 4, 1]);
  for (const values of (await gradientsOf(model)).values()) expect(values.every((v) => v === 0)).toBe(true);
});

test("nothing stays on the device: after work, after errors, after dispose", async () => {
  const { backend, model } = newModel();
  await model.backward(sequences, slopes);
  await model.score(sequences);
  const before = backend.live();
  await model.score(sequences, { maxTokensPerPack: 4 });
  await model.backward(sequences, slopes, { maxTokensPerPack: 4 });
  await model.backward(sequences, slopes, { recompute: true });
  await model.generate([1, 2], { maxTokens: 3, temperature: 0 });
  await expect(
    model.backward(sequences, () => {
      throw new Error("stop here");
    }),
  ).rejects.toThrow("stop here");
  await expect(model.backward(sequences, (_, row) => row.fill(NaN))).rejects.toThrow("is not finite");
  await expect(model.backward(sequences, () => new Float32Array(9))).rejects.toThrow("9 coefficients");
  const swigluBackward = backend.swigluBackward;
  backend.swigluBackward = () => {
    throw new Error("device lost");
  };
  await expect(model.backward(sequences, slopes)).rejects.toThrow("device lost");
  backend.swigluBackward = swigluBackward;
  expect(backend.live()).toEqual(before);
  model.dispose();
  expect(backend.live()).toEqual({ tensors: 0, bytes: 0 });
});

test("scoring holds fewer tensors at a time than the layers make", async () => {
  const { backend, model } = newModel({ layers: 12 });
  let most = 0;
  const swiglu = backend.swiglu;
  backend.swiglu = (gate, up) => {
    most = Math.max(most, backend.live().tensors - model.parameters.size);
    return swiglu(gate, up);
  };
  await model.score(sequences);
  expect(most).toBeLessThan(40);
});

test("work stops between packs when asked to", async () => {
  const { model } = newModel();
  const stop = new AbortController();
  const work = { maxTokensPerPack: 1, signal: stop.signal, onProgress: () => stop.abort() };
  await expect(model.score(sequences, work)).rejects.toThrow("aborted");
  await expect(model.generate([1], { maxTokens: 2, temperature: 0, signal: stop.signal })).rejects.toThrow(
    "aborted",
  );
});

test("bad requests are refused with one line", async () => {
  const { model } = newModel();
  const refuse = async (sequence: Sequence, message: string) => {
    const error: unknown = await model.score([sequence]).catch((e: unknown) => e);
    expect(error).toBeInstanceOf(InputError);
    expect((error as InputError).message).toContain(message);
  };
  const misfit =
    "token id 23 of sequence 1 is not in the vocabulary of 23: a tokenizer that does not fit the model";
  await refuse({ promptIds: [1], responseIds: [23] }, misfit);
  await refuse({ promptIds: [23], responseIds: [1] }, misfit);
  await refuse({ promptIds: [-1], responseIds: [1] }, "token id -1");
  await refuse({ promptIds: [1.5], responseIds: [1] }, "token id 1.5");
  await refuse({ promptIds: [], responseIds: [1] }, "sequence 1 has an empty prompt");
  await refuse({ promptIds: Array(40).fill(1), responseIds: [1] }, "41 tokens, the model takes 40");
  await expect(model.generate([], { maxTokens: 1, temperature: 0 })).rejects.toThrow("empty prompt");
  await expect(model.generate([1], { maxTokens: 40, temperature: 0 })).rejects.toThrow("exceed the 40");
  await expect(model.generate([1], { maxTokens: 1, temperature: -1 })).rejects.toThrow("temperature -1");
});

test("log-probabilities that are not finite are an error", async () => {
  const { backend, model } = newModel();
  backend.fill(model.parameters.get("model.norm.weight")!, 3e38);
  await expect(model.score(sequences)).rejects.toThrow(/response token 1 of sequence 1 is (NaN|-Infinity)/);
  await expect(model.backward(sequences, slopes)).rejects.toThrow(InputError);
  await expect(model.generate([1], { maxTokens: 1, temperature: 0 })).rejects.toThrow("is not finite");
});

test("generation grows its cache, stops at a stop id and repeats itself", async () => {
  const { model } = newModel({ maxPositions: 700 });
  const uniformFrom = () => {
    let n = 0;
    return () => (n++ * 0.618) % 1;
  };
  const options = { maxTokens: 600, temperature: 1.5 };
  const long = await model.generate([1, 2], { ...options, uniform: uniformFrom() });
  expect(long.ids.length).toBe(600);
  expect(long.stopped).toBe(false);
  const [whole] = await model.score([{ promptIds: [1, 2], responseIds: long.ids }]);
  expectClose(long.logprobs, whole!, 1e-5);
  const stopId = long.ids[30]!;
  const end = long.ids.indexOf(stopId);
  const short = await model.generate([1, 2], { ...options, uniform: uniformFrom(), stopIds: [stopId] });
  expect(short).toEqual({
    ids: long.ids.slice(0, end + 1),
    logprobs: long.logprobs.slice(0, end + 1),
    stopped: true,
  });
  const nothing = await model.generate([1], { maxTokens: 0, temperature: 0 });
  expect(nothing).toEqual({ ids: [], logprobs: new Float32Array(0), stopped: false });
});

test("a seed decides the new model", async () => {
  const { backend, model } = newModel({ vocabularySize: 2000 });
  const again = LanguageModel.create(backend, model.config, 7);
  const other = LanguageModel.create(backend, model.config, 8);
  const embedding = "model.embed_tokens.weight";
  const values = await backend.read(model.parameters.get(embedding)!);
  expect(sameValues(await backend.read(again.parameters.get(embedding)!), values)).toBe(true);
  expect(sameValues(await backend.read(other.parameters.get(embedding)!), values)).toBe(false);
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const spread = Math.sqrt(values.reduce((sum, value) => sum + value * value, 0) / values.length);
  expect(Math.abs(mean)).toBeLessThan(1e-3);
  expect(spread).toBeCloseTo(0.02, 3);
  expect([...(await backend.read(model.parameters.get("model.norm.weight")!))]).toEqual(Array(8).fill(1));
});

test.each(["f32", "bf16", "f16"] as const)("a folder saved as %s loads again", async (dtype) => {
  const backend = createReferenceBackend();
  const model = await LanguageModel.load(backend, openModelFixture("qwen3-a-bf16"));
  const folder = new MemoryFolder();
  await model.save(folder, { dtype });
  const copy = await LanguageModel.load(backend, folder);
  expect(copy.parameterCount).toBe(231_360);
  for (const [name, t] of model.parameters) {
    const [a, b] = [await backend.read(t), await backend.read(copy.parameters.get(name)!)];
    // bf16 values lie in f32 and bf16 exactly; f16 has more digits but a smaller range.
    if (dtype === "f16") expectClose(b, a, 2 ** -25);
    else expect(sameValues(a, b)).toBe(true);
  }
  if (dtype !== "f32") expect(folder.files.get("model.safetensors")!.length).toBeLessThan(470_000);
});

test("values that a format cannot hold are not saved", async () => {
  const { backend, model } = newModel();
  backend.fill(model.parameters.get("model.norm.weight")!, 70_000);
  await expect(model.save(new MemoryFolder(), { dtype: "f16" })).rejects.toThrow(
    "model.norm.weight: value 0 is 70000 and cannot be saved as F16",
  );
  await model.save(new MemoryFolder(), { dtype: "bf16" });
  backend.fill(model.parameters.get("model.norm.weight")!, NaN);
  await expect(model.save(new MemoryFolder())).rejects.toThrow("value 0 is NaN");
});
