import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { modelFixture, readGolden } from "../../../test/support/golden.ts";
import { MemoryFolder } from "../../../test/support/memory-folder.ts";
import { episodeWeights } from "../../core/objective/index.ts";
import { PAPER_SETTINGS, type TrainItem } from "../../core/ports.ts";
import type { Backend } from "../../tensor/index.ts";
import { createNodeBackend } from "./node.ts";
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

const folder = (name: string) => MemoryFolder.fromDisk(modelFixture(name));
const close = (actual: number, expected: number, relative: number) =>
  expect(Math.abs(actual - expected)).toBeLessThanOrEqual(relative * Math.abs(expected));

describe("ports on the reference backend", () => {
  let backend: Backend;
  beforeAll(async () => {
    backend = await createNodeBackend("cpu");
  });
  afterAll(() => backend.dispose());

  it.each(["qwen3-a", "qwen3-b"])(
    "%s: a step reports the golden loss, norm, ratios and clipped tokens",
    async (name) => {
      const { items, golden } = goldenItems(name);
      const trainer = await ModelTrainer.open(backend, folder(name), { optimizer: "ignore" });
      const report = await trainer.step(items, PAPER_SETTINGS);
      close(report.loss, golden.get("loss")![0]!, 1e-3);
      close(report.gradNorm, golden.get("grad_norm")![0]!, 1e-4);
      expect(report.step).toBe(1);
      report.items.forEach((item, n) => {
        const key = `e${items[n]!.episode.slice(1)}d${item.decision}`;
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
    let from = folder("qwen3-a");
    for (const [n, expected] of steps.entries()) {
      const trainer = await ModelTrainer.open(backend, from, { optimizer: n === 0 ? "ignore" : "require" });
      const report = await trainer.step(items, {
        ...PAPER_SETTINGS,
        learningRate: expected.lr,
        weightDecay: expected.weight_decay,
      });
      close(report.loss, expected.loss, 1e-3);
      close(report.gradNorm, expected.grad_norm, 1e-3);
      from = new MemoryFolder(`step ${n + 1}`);
      await trainer.save(from, { optimizer: true });
      expect(from.committed).toBe(true);
      trainer.dispose();
    }
    const golden = readGolden("qwen3-a/adamw.safetensors");
    const last = await ModelTrainer.open(backend, from, { optimizer: "require" });
    expect(last.steps).toBe(3);
    const saved = new MemoryFolder("last");
    await last.save(saved, { optimizer: false });
    expect(sameWeights(saved, from)).toBe(true);
    expect(saved.files.has("optimizer.safetensors")).toBe(false);
    const norm = golden.get("lr1e-5_wd0.1/step3/model.norm.weight")!;
    const values = readTensor(saved, "model.norm.weight");
    values.forEach((value, i) => {
      expect(Math.abs(value - norm[i]!)).toBeLessThan(0.05 * 1e-5 + 1e-7);
    });
    last.dispose();
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

  it("samples the same response from the same seed, and scores it the same", async () => {
    const trainer = await ModelTrainer.open(backend, folder("qwen3-a"), { optimizer: "ignore" });
    const request = { id: "r", promptIds: [5, 6, 7, 8], maxTokens: 12, temperature: 1, stopIds: [1862] };
    const [first] = await trainer.sample([{ ...request, seed: 1 }]);
    const [again, other] = await trainer.sample([
      { ...request, seed: 1 },
      { ...request, seed: 2 },
    ]);
    expect(again).toEqual(first);
    expect(other!.responseIds).not.toEqual(first!.responseIds);
    const [scored] = await trainer.score([
      { id: "r", promptIds: request.promptIds, responseIds: first!.responseIds },
    ]);
    first!.logprobs.forEach((value, i) => {
      expect(Math.abs(value - scored!.logprobs[i]!)).toBeLessThan(2e-4);
    });
    trainer.dispose();
  });

  it("a scorer says what it computed on", async () => {
    const scorer = await ModelScorer.open(backend, folder("qwen3-b-bf16-sharded"));
    expect(scorer.info).toMatchObject({ device: "cpu", dtype: "f32", vocabulary: 1880, parameters: 656_640 });
    scorer.dispose();
    expect(backend.live().tensors).toBe(0);
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
