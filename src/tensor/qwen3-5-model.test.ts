import { expect, test } from "vitest";
import { MemoryFolder } from "../../test/memory-folder.ts";
import { openModelFixture } from "../../test/model-fixtures.ts";
import { randomValues } from "../../test/random.ts";
import { Checkpoint } from "./checkpoint.ts";
import { LanguageModel } from "./language-model.ts";
import { branchTokens } from "./memory-plan.ts";
import type { ModelWork, Sequence } from "./packing.ts";
import type { Qwen3_5Config } from "./qwen3-5-config.ts";
import { createReferenceBackend } from "./reference/index.ts";
import { elements } from "./shapes.ts";

const config: Qwen3_5Config = {
  architecture: "qwen3_5",
  vocabularySize: 23,
  hiddenSize: 8,
  intermediateSize: 12,
  layers: 2,
  heads: 2,
  keyValueHeads: 1,
  headSize: 6,
  rotarySize: 2,
  ropeTheta: 10_000,
  normEpsilon: 1e-6,
  tied: false,
  maxPositions: 2000,
  mixers: ["linear_attention", "full_attention"],
  deltaNet: { keyHeads: 1, valueHeads: 2, keySize: 4, valueSize: 6, kernel: 3 },
};

const sequences: Sequence[] = [
  { promptIds: [1, 2, 3], responseIds: [4, 5] },
  { promptIds: [7], responseIds: [8, 9, 10, 11] },
  { promptIds: [1, 2, 3, 3, 12], responseIds: [22] },
];

const slopes = (index: number, row: Float32Array) => row.map((_, j) => 0.3 * (index + 1) - 0.2 * j);

/** A model whose every parameter matters. */
function newModel() {
  const backend = createReferenceBackend();
  const model = LanguageModel.create(backend, config, 7);
  let seed = 1;
  for (const t of model.parameters.values()) backend.write(t, randomValues(elements(t.shape), seed++, 0.6));
  return { backend, model };
}

function expectClose(a: Float32Array, b: Float32Array, tolerance: number): void {
  expect(a.length).toBe(b.length);
  for (const [i, value] of a.entries()) expect(Math.abs(value - b[i]!)).toBeLessThanOrEqual(tolerance);
}

test("gradients of a whole model against finite differences", async () => {
  const { backend, model } = newModel();
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
      backend.write(
        t,
        values.map((value, i) => value + (sign * step * gradient[i]!) / length),
      );
      return objective();
    };
    const slope = ((await move(1)) - (await move(-1))) / (2 * step);
    backend.write(t, values);
    expect(Math.abs(slope / length - 1), `${name}: ${slope} against ${length}`).toBeLessThan(0.03);
  }
});

test("neither packs nor what is computed again change anything, and nothing stays", async () => {
  const { backend, model } = newModel();
  const together = await model.score(sequences);
  const apart = await model.score(sequences, { maxTokensPerPack: 1 });
  for (const [i, row] of together.entries()) expectClose(row, apart[i]!, 1e-6);
  await model.backward(sequences, slopes);
  const once = new Map<string, Float32Array>();
  for (const [name, t] of model.gradients) once.set(name, await backend.read(t));
  const before = backend.live();
  for (const work of [{ maxTokensPerPack: 3 }, { recompute: true }]) {
    model.zeroGradients();
    await model.backward(sequences, slopes, work);
    for (const [name, t] of model.gradients) expectClose(await backend.read(t), once.get(name)!, 1e-5);
  }
  await model.generate([1, 2], { maxTokens: 3, temperature: 0 });
  expect(backend.live()).toEqual(before);
  model.dispose();
  expect(backend.live()).toEqual({ tensors: 0, bytes: 0 });
});

test("the states that a prompt leaves are kept from call to call", async () => {
  const { backend, model } = newModel();
  const context = Array.from({ length: 60 }, (_, i) => (i * 7) % 23);
  const alike = [1, 2, 3].map((id) => ({ promptIds: [...context, id], responseIds: [4, id] }));
  const apart: Float32Array[] = [];
  for (const sequence of alike) apart.push(...(await model.score([sequence])));
  model.keepPrefixes(1e9);
  const counts: { given: number; computed: number }[] = [];
  for (let again = 0; again < 2; again++) {
    const scores = await model.score(alike, { onComputed: (tokens) => counts.push(tokens) });
    for (const [i, row] of scores.entries()) expectClose(row, apart[i]!, 1e-6);
  }
  // The last token of a response is never computed: nothing follows it.
  expect(counts).toEqual([
    { given: 189, computed: 62 + 2 + 2 },
    { given: 189, computed: 2 + 2 + 2 },
  ]);
  model.dispose();
  expect(backend.live()).toEqual({ tensors: 0, bytes: 0 });
});

test("training computes a common beginning once where it is longer than what a branch costs", async () => {
  const { model } = newModel();
  const alike = (length: number): Sequence[] =>
    [1, 2, 3].map((id) => ({
      promptIds: [...Array.from({ length }, (_, i) => (i * 7) % 23), id],
      responseIds: [4, id],
    }));
  const computed = async (sequences: Sequence[], work: ModelWork = {}) => {
    let count = 0;
    await model.backward(sequences, slopes, {
      ...work,
      onComputed: (tokens) => {
        count = tokens.computed;
      },
    });
    return count;
  };
  expect(await computed(alike(60))).toBe(62 + 2 + 2);
  expect(await computed(alike(31))).toBe(3 * 33);
  // What branches add counts in the size of a pack.
  const branch = branchTokens(config, false);
  expect(branch).toBeGreaterThan(0);
  const all = 62 + 2 * (2 + branch);
  expect(await computed(alike(60), { maxTokensPerPack: all })).toBe(66);
  expect(await computed(alike(60), { maxTokensPerPack: all - 1 })).toBe(62 + 2 + 62);
  model.dispose();
});

test("a prompt longer than one chunk of the cache continues as the whole sequence does", async () => {
  const { model } = newModel();
  const promptIds = Array.from({ length: 1100 }, (_, i) => (i * i) % 23);
  const { ids, logprobs } = await model.generate(promptIds, { maxTokens: 5, temperature: 0 });
  const [whole] = await model.score([{ promptIds, responseIds: ids }]);
  expectClose(logprobs, whole!, 1e-5);
});

test.each(["f32", "bf16", "f16"] as const)(
  "a composite folder saved as %s is a text model",
  async (dtype) => {
    const backend = createReferenceBackend();
    const model = await LanguageModel.load(backend, openModelFixture("qwen3_5-bf16-wrapper-sharded"));
    const folder = new MemoryFolder();
    await model.save(folder, { dtype });
    const stored = await Checkpoint.open(folder);
    expect([...stored.tensors.keys()]).toEqual([...model.parameters.keys()]);
    expect(stored.tensors.get("model.layers.0.linear_attn.A_log")!.dtype).toBe("F32");
    expect(stored.tensors.get("model.layers.0.linear_attn.dt_bias")!.dtype).toBe(dtype.toUpperCase());
    const copy = await LanguageModel.load(backend, folder);
    for (const [name, t] of model.parameters) {
      const [a, b] = [await backend.read(t), await backend.read(copy.parameters.get(name)!)];
      // bf16 values lie in f32 and bf16 exactly; f16 has more digits but a smaller range.
      expectClose(b, a, dtype === "f16" ? 2 ** -24 : 0);
    }
  },
);

test("a missing tensor is named as the folder names it", async () => {
  const source = openModelFixture("qwen3_5-bf16-wrapper-sharded");
  const folder = new MemoryFolder();
  for (const file of await source.list())
    if (file !== "config.json")
      await folder.write(file, [await source.read(file, 0, await source.size(file))]);
  const json = JSON.parse(
    new TextDecoder().decode(await source.read("config.json", 0, await source.size("config.json"))),
  ) as { text_config: Record<string, unknown> };
  const layers = [...(json.text_config["layer_types"] as string[]), "linear_attention"];
  Object.assign(json.text_config, { num_hidden_layers: 5, layer_types: layers });
  await folder.write("config.json", [new TextEncoder().encode(JSON.stringify(json))]);
  await expect(LanguageModel.load(createReferenceBackend(), folder)).rejects.toThrow(
    "model.language_model.layers.4.input_layernorm.weight: this tensor is missing",
  );
});

test("a new model begins as transformers does", async () => {
  const backend = createReferenceBackend();
  const model = LanguageModel.create(backend, config, 3);
  const read = (name: string) => backend.read(model.parameters.get(name)!);
  expect([...(await read("model.norm.weight"))].every((value) => value === 0)).toBe(true);
  expect([...(await read("model.layers.0.linear_attn.norm.weight"))].every((value) => value === 1)).toBe(
    true,
  );
  expect([...(await read("model.layers.0.linear_attn.dt_bias"))]).toEqual([1, 1]);
  for (const value of await read("model.layers.0.linear_attn.A_log"))
    expect(value).toBeLessThanOrEqual(Math.log(16));
});
