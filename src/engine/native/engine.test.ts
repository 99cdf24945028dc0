import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { MemoryFolder } from "../../../test/memory-folder.ts";
import { modelFixture, readGolden } from "../../../test/support/golden.ts";
import { openGpu } from "../../../test/webgpu.ts";

import { episodeWeights } from "../../core/objective/index.ts";
import { type FolderReader, PAPER_SETTINGS, type TrainItem } from "../../core/ports.ts";
import type { Backend } from "../../tensor/index.ts";
import { createBackend } from "./backend.ts";
import { createNodeBackend } from "./node.ts";
import { openFolder } from "./node-folder.ts";
import { ModelScorer } from "./scorer.ts";
import { ModelTrainer } from "./trainer.ts";

/** The golden file's two episodes as one batch. */
function goldenItems(model: string): { items: TrainItem[]; golden: Map<string, number[]> } {
  const golden = readGolden(`${model}/gradient.safetensors`);
  const decisions = [...golden.keys()]
    .filter((key) => key.endsWith("/prompt_ids"))
    .map((key) => key.slice(0, -"/prompt_ids".length))
    .sort();
  const get = (name: string, key: string) => golden.get(`${name}/${key}`)!;
  const weights = episodeWeights(
    decisions.map((name) => ({ episode: name.slice(0, 2), tokens: get(name, "response_ids").length })),
  );
  const items = decisions.map((name, n) => ({
    episode: name.slice(0, 2),
    decision: Number(name.slice(3)),
    promptIds: get(name, "prompt_ids"),
    responseIds: get(name, "response_ids"),
    teacherLogprobs: get(name, "teacher_logp"),
    rolloutLogprobs: get(name, "old_logp"),
    weight: weights[n]!,
  }));
  return { items, golden };
}

/** Few of the 1,880 vocabulary rows: what has no token is never drawn. */
const DRAWABLE = [
  [0, 9],
  [1860, 1865],
] as const;
const folder = (name: string) => openFolder(modelFixture(name));
const close = (actual: number, expected: number, relative: number) =>
  expect(Math.abs(actual - expected)).toBeLessThanOrEqual(relative * Math.abs(expected));

describe("ports on the reference backend", () => {
  let backend: Backend;
  beforeAll(async () => {
    backend = await createNodeBackend("cpu");
  });
  afterAll(() => backend.dispose());

  it.each(["qwen3-a", "qwen3-b", "qwen3_5"])(
    "%s: a step reports the golden loss, norm, ratios and clipped tokens",
    async (name) => {
      const { items, golden } = goldenItems(name);
      const trainer = await ModelTrainer.open(backend, folder(name), { optimizer: "ignore" });
      const report = await trainer.step(items, PAPER_SETTINGS);
      close(report.loss, golden.get("loss")![0]!, 1e-3);
      close(report.gradNorm, golden.get("grad_norm")![0]!, 1e-4);
      expect(report.step).toBe(1);
      report.items.forEach((item) => {
        const key = `${item.episode}d${item.decision}`;
        expect([...item.clipped]).toEqual(golden.get(`${key}/clipped`));
        for (const [field, from] of [
          ["logprobs", "logp"],
          ["ratio", "ratio"],
          ["advantage", "advantage"],
        ] as const) {
          const expected = golden.get(`${key}/${from}`)!;
          item[field].forEach((value, i) => {
            expect(Math.abs(value - expected[i]!)).toBeLessThan(4e-4 * Math.max(1, Math.abs(expected[i]!)));
          });
        }
      });
      trainer.dispose();
      expect(backend.live().tensors).toBe(0);
    },
  );

  it("three golden AdamW steps, saved and opened again between them", async () => {
    const { items } = goldenItems("qwen3-a");
    const steps = (
      JSON.parse(readFileSync(modelFixture("goldens/qwen3-a/adamw.json"), "utf8")) as {
        steps: { config: string; lr: number; weight_decay: number; loss: number; grad_norm: number }[];
      }
    ).steps.filter(({ config }) => config === "lr1e-5_wd0.1");
    let last = new MemoryFolder();
    let from: FolderReader = folder("qwen3-a");
    for (const [n, expected] of steps.entries()) {
      const trainer = await ModelTrainer.open(backend, from, { optimizer: n === 0 ? "ignore" : "require" });
      const report = await trainer.step(items, {
        ...PAPER_SETTINGS,
        learningRate: expected.lr,
        weightDecay: expected.weight_decay,
      });
      close(report.loss, expected.loss, 1e-3);
      close(report.gradNorm, expected.grad_norm, 1e-3);
      last = new MemoryFolder(`step ${n + 1}`);
      const commit = vi.spyOn(last, "commit");
      await trainer.save(last, { optimizer: true });
      expect(commit).toHaveBeenCalledOnce();
      from = last;
      trainer.dispose();
    }
    const golden = readGolden("qwen3-a/adamw.safetensors");
    const opened = await ModelTrainer.open(backend, last, { optimizer: "require" });
    expect(opened.steps).toBe(3);
    const saved = new MemoryFolder("saved");
    await opened.save(saved, { optimizer: false });
    expect(sameWeights(saved, last)).toBe(true);
    expect(saved.files.has("optimizer.safetensors")).toBe(false);
    const norm = golden.get("lr1e-5_wd0.1/step3/model.norm.weight")!;
    const values = readTensor(saved, "model.norm.weight");
    values.forEach((value, i) => {
      expect(Math.abs(value - norm[i]!)).toBeLessThan(0.05 * 1e-5 + 1e-7);
    });
    opened.dispose();
  });

  it("lr 0 leaves every bit of the weights", async () => {
    const { items } = goldenItems("qwen3-a");
    const trainer = await ModelTrainer.open(backend, folder("qwen3-a"), { optimizer: "ignore" });
    const [before, after] = [new MemoryFolder("before"), new MemoryFolder("after")];
    await trainer.save(before, { optimizer: false });
    await trainer.step(items, { ...PAPER_SETTINGS, learningRate: 0, weightDecay: 0.1 });
    await trainer.save(after, { optimizer: false });
    expect(sameWeights(after, before)).toBe(true);
    await trainer.step(items, PAPER_SETTINGS);
    const moved = new MemoryFolder("moved");
    await trainer.save(moved, { optimizer: false });
    expect(sameWeights(moved, before)).toBe(false);
    trainer.dispose();
  });

  it("no rollout log-probabilities: the student's own, so every ratio is exactly 1", async () => {
    const { items } = goldenItems("qwen3-a");
    const trainer = await ModelTrainer.open(backend, folder("qwen3-a"), { optimizer: "ignore" });
    const report = await trainer.step(
      items.map((item) => ({ ...item, rolloutLogprobs: null })),
      { ...PAPER_SETTINGS, learningRate: 0 },
    );
    for (const item of report.items) expect(new Set(item.ratio)).toEqual(new Set([1]));
    trainer.dispose();
  });

  it("an aborted step changes nothing and frees what it made", async () => {
    const { items } = goldenItems("qwen3-a");
    const trainer = await ModelTrainer.open(backend, folder("qwen3-a"), { optimizer: "ignore" });
    const before = new MemoryFolder("before");
    await trainer.save(before, { optimizer: true });
    await trainer.step(items.slice(0, 1), { ...PAPER_SETTINGS, learningRate: 0 });
    const live = backend.live();
    const controller = new AbortController();
    const step = trainer.step(items, PAPER_SETTINGS, {
      signal: controller.signal,
      onProgress: () => controller.abort(new Error("stop now")),
    });
    await expect(step).rejects.toThrow("stop now");
    expect(backend.live()).toEqual(live);
    const after = new MemoryFolder("after");
    await trainer.save(after, { optimizer: false });
    expect(sameWeights(after, before)).toBe(true);
    trainer.dispose();
    expect(backend.live().tensors).toBe(0);
  });

  it("samples the same response from the same seed, of drawable ids alone, and scores it the same", async () => {
    const trainer = await ModelTrainer.open(backend, folder("qwen3-a"), { optimizer: "ignore" });
    const request = {
      id: "r",
      promptIds: [5, 6, 7, 8],
      maxTokens: 12,
      temperature: 1,
      stopIds: [1862],
      drawable: DRAWABLE,
    };
    const [first] = await trainer.sample([{ ...request, seed: 1 }]);
    const [again, other] = await trainer.sample([
      { ...request, seed: 1 },
      { ...request, seed: 2 },
    ]);
    expect(again).toEqual(first);
    const frozen = await ModelScorer.open(backend, folder("qwen3-a"));
    expect(await frozen.sample([{ ...request, seed: 1 }])).toEqual([first]);
    frozen.dispose();
    expect(other!.responseIds).not.toEqual(first!.responseIds);
    for (const id of [...first!.responseIds, ...other!.responseIds])
      expect(
        DRAWABLE.some(([from, to]) => id >= from && id < to),
        `id ${id}`,
      ).toBe(true);
    const [scored] = await trainer.score([
      { id: "r", promptIds: request.promptIds, responseIds: first!.responseIds },
    ]);
    first!.logprobs.forEach((value, i) => {
      expect(Math.abs(value - scored!.logprobs[i]!)).toBeLessThan(2e-4);
    });
    trainer.dispose();
  });

  it("a scorer forgets the prefixes and the prompts that it kept of earlier calls", async () => {
    const scorer = await ModelScorer.open(backend, folder("qwen3-a"));
    const stem = Array.from({ length: 200 }, (_, i) => 1 + (i % 50));
    const requests = [1, 2, 3].map((id) => ({ id: `${id}`, promptIds: [...stem, id], responseIds: [5] }));
    const ends = { maxTokens: 2, temperature: 0, seed: 1, stopIds: [], drawable: DRAWABLE };
    const score = () => scorer.score(requests);
    const sample = () => scorer.sample(requests.map((request) => ({ ...request, ...ends })));
    // The first calls also make tables, which stay.
    await score();
    await sample();
    scorer.forget();
    const { tensors } = backend.live();
    for (const work of [score, sample]) {
      await work();
      expect(backend.live().tensors).toBeGreaterThan(tensors);
      scorer.forget();
      expect(backend.live().tensors).toBe(tensors);
    }
    scorer.dispose();
  });

  it("a scorer says what it computed on", async () => {
    const scorer = await ModelScorer.open(backend, folder("qwen3-b-bf16-sharded"));
    expect(scorer.info).toMatchObject({ device: "cpu", dtype: "f32", vocabulary: 1880, parameters: 656_640 });
    scorer.dispose();
    expect(backend.live().tensors).toBe(0);
  });
});

describe("ports on WebGPU, a software adapter", () => {
  let backend: Backend;
  beforeAll(async () => {
    backend = await createBackend({ device: "webgpu", gpu: await openGpu(), howTo: "" });
  });
  afterAll(() => backend.dispose());

  it("a golden step; the step after it is the same bit for bit when the run is saved, scoring meanwhile, and opened between them", async () => {
    const { items, golden } = goldenItems("qwen3-a");
    const through = await ModelTrainer.open(backend, folder("qwen3-a"), { optimizer: "ignore" });
    expect(through.info).toMatchObject({ device: "webgpu", dtype: "f32" });
    const first = await through.step(items, PAPER_SETTINGS);
    close(first.loss, golden.get("loss")![0]!, 1e-3);
    close(first.gradNorm, golden.get("grad_norm")![0]!, 1e-4);
    expect(first.items.flatMap(({ clipped }) => [...clipped])).toEqual(
      items.flatMap(({ episode, decision }) => golden.get(`${episode}d${decision}/clipped`)!),
    );
    const between = new MemoryFolder("between");
    const requests = items.map((item, n) => ({ ...item, id: String(n) }));
    const alone = await through.score(requests);
    through.forget();
    const [beside] = await Promise.all([through.score(requests), through.save(between, { optimizer: true })]);
    expect(beside).toEqual(alone);
    const expected = await through.step(items.slice(0, 2), PAPER_SETTINGS);
    const [whole, resumed] = [new MemoryFolder("whole"), new MemoryFolder("resumed")];
    await through.save(whole, { optimizer: true });
    through.dispose();

    const continued = await ModelTrainer.open(backend, between, { optimizer: "require" });
    expect(await continued.step(items.slice(0, 2), PAPER_SETTINGS)).toEqual(expected);
    await continued.save(resumed, { optimizer: true });
    continued.dispose();
    expect(sameWeights(resumed, whole)).toBe(true);

    // Without the moments until a step needs them.
    const read = vi.spyOn(between, "read");
    const weights = backend.live().tensors;
    const scoring = await ModelTrainer.open(backend, between, { optimizer: "later" });
    expect(scoring.steps).toBe(1);
    expect(backend.live().tensors - weights).toBe(scoring.parameters.length);
    const readOf = (file: string) =>
      read.mock.calls.reduce((sum, [name, start, end]) => sum + (name === file ? end - start : 0), 0);
    expect(readOf("optimizer.safetensors")).toBeLessThan(1e5);
    expect(await scoring.step(items.slice(0, 2), PAPER_SETTINGS)).toEqual(expected);
    await scoring.save(resumed, { optimizer: true });
    scoring.dispose();
    expect(sameWeights(resumed, whole)).toBe(true);

    // What is wrong with them is said then, and leaves the student as it was.
    const header = Buffer.from(between.files.get("optimizer.safetensors")!);
    header.write("weighx", header.indexOf("m/model.norm.weight") + "m/model.norm.".length);
    between.files.set("optimizer.safetensors", header);
    const other = await ModelTrainer.open(backend, between, { optimizer: "later" });
    await expect(other.continueOptimizer()).rejects.toThrow("m/model.norm.weighx");
    expect(other.steps).toBe(1);
    other.dispose();
    expect(backend.live().tensors).toBe(0);
  });

  it("auto leaves a software adapter alone and says so", async () => {
    const notes: string[] = [];
    const gpu = await openGpu();
    const chosen = await createBackend({
      device: "auto",
      gpu,
      howTo: "",
      onNote: (note) => notes.push(note),
    });
    if (/swiftshader|llvmpipe|lavapipe/i.test(backend.description)) {
      expect(chosen.kind).toBe("cpu");
      expect(notes).toEqual([expect.stringMatching(/is software: computing with plain TypeScript/)]);
    } else {
      expect(chosen.kind).toBe("webgpu");
      expect(notes).toEqual([]);
    }
    chosen.dispose();
  });

  it("without WebGPU: auto falls back with a note, webgpu is refused with what to do", async () => {
    const notes: string[] = [];
    const chosen = await createBackend({
      device: "auto",
      gpu: null,
      howTo: "",
      onNote: (note) => notes.push(note),
    });
    expect(chosen.kind).toBe("cpu");
    expect(notes).toHaveLength(1);
    await expect(createBackend({ device: "webgpu", gpu: null, howTo: "install a driver" })).rejects.toThrow(
      "no WebGPU device: this system offers none; install a driver",
    );
  });

  it("waits for the adapter of a browser that has just started, as long as it is asked to", async () => {
    const real = await openGpu();
    let asked = 0;
    const late = (times: number) =>
      ({
        requestAdapter: async (options?: GPURequestAdapterOptions) =>
          ++asked <= times ? null : real.requestAdapter(options),
      }) as unknown as GPU;
    const found = await createBackend({ device: "webgpu", gpu: late(2), howTo: "", patience: 60_000 });
    expect(found.kind).toBe("webgpu");
    found.dispose();
    asked = 0;
    const never = { device: "webgpu", gpu: late(Number.POSITIVE_INFINITY), howTo: "now what" } as const;
    await expect(createBackend(never)).rejects.toThrow("no WebGPU device: no adapter was found; now what");
    expect(asked).toBe(1);
    await expect(createBackend({ ...never, patience: 1 })).rejects.toThrow("no adapter was found");
  });

  it("compute f16 is refused where it cannot be had, never replaced in silence", async () => {
    await expect(createBackend({ device: "cpu", howTo: "", compute: "f16" })).rejects.toThrow(
      "compute f16: the CPU device computes in f32 only",
    );
    const without = createBackend({ device: "auto", gpu: null, howTo: "install a driver", compute: "f16" });
    await expect(without).rejects.toThrow(
      "compute f16: no WebGPU device: this system offers none; install a driver",
    );
    const adapter = await (await openGpu()).requestAdapter();
    if (!adapter!.features.has("shader-f16"))
      await expect(
        createBackend({ device: "webgpu", gpu: await openGpu(), howTo: "", compute: "f16" }),
      ).rejects.toThrow(/^compute f16: the adapter .* lacks shader-f16/);
  });
});

function sameWeights(a: MemoryFolder, b: MemoryFolder): boolean {
  const bytes = (of: MemoryFolder) => Buffer.from(of.files.get("model.safetensors")!);
  return bytes(a).equals(bytes(b));
}

/** One f32 tensor of a saved model. */
function readTensor(saved: MemoryFolder, name: string): Float32Array {
  const bytes = Buffer.from(saved.files.get("model.safetensors")!);
  const length = Number(bytes.readBigUInt64LE(0));
  const header = JSON.parse(bytes.toString("utf8", 8, 8 + length)) as Record<
    string,
    { data_offsets: [number, number] }
  >;
  const [start, end] = header[name]!.data_offsets;
  return new Float32Array(Uint8Array.from(bytes.subarray(8 + length + start, 8 + length + end)).buffer);
}
