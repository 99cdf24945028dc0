import { expect, test } from "vitest";
import { modelFixture } from "../../../test/support/golden.ts";
import { openGpu } from "../../../test/webgpu.ts";
import { askedBy, teacherTargets } from "../../core/loop/score-batch.ts";
import { maskedTokens, type Signal } from "../../core/method/index.ts";
import { PAPER_SETTINGS, type StepReport, type TrainItem } from "../../core/ports.ts";
import type { Backend } from "../../tensor/index.ts";
import { createBackend } from "./backend.ts";
import { openFolder } from "./node-folder.ts";
import { ModelScorer } from "./scorer.ts";
import { ModelTrainer } from "./trainer.ts";

const SIGNALS: Signal[] = [
  { kind: "sampled-token" },
  { kind: "top-k", k: 16 },
  { kind: "full-vocabulary", mask: [40] },
];
const DECISIONS = [
  { promptIds: [1, 2, 3, 4, 5], responseIds: [30, 40, 50] },
  { promptIds: [6, 7], responseIds: [60, 70] },
];
const SETTINGS = { ...PAPER_SETTINGS, learningRate: 1e-3 };

/** The same batch a few times, teacher qwen3-b on student qwen3-a. */
async function steps(backend: Backend, signal: Signal, count: number) {
  const teacher = await ModelScorer.open(backend, openFolder(modelFixture("qwen3-b")));
  const requests = DECISIONS.map((decision, n) => ({ id: `d${n}`, ...decision }));
  const scores = await teacher.score(requests, askedBy(signal));
  const [whole] = await teacher.score([requests[0]!], { distribution: true });
  teacher.dispose();
  const items = DECISIONS.map(({ promptIds, responseIds }, n): TrainItem => {
    const masked = maskedTokens(signal, responseIds);
    return {
      ...{ episode: `e${n}`, decision: 0, promptIds, responseIds, rolloutLogprobs: null },
      ...{ teacherLogprobs: scores[n]!.logprobs, weight: 1 / (2 * responseIds.length) },
      ...(masked && { masked }),
      ...teacherTargets(signal, scores[n]!),
    };
  });
  const trainer = await ModelTrainer.open(backend, openFolder(modelFixture("qwen3-a")), {
    optimizer: "ignore",
  });
  const [own] = await trainer.score([requests[0]!], { distribution: true });
  const reports: StepReport[] = [];
  for (let n = 0; n < count; n += 1) reports.push(await trainer.step(items, SETTINGS));
  trainer.dispose();
  expect(backend.live().tensors).toBe(0);
  return { reports, items, own: own!.distribution!, teacher: whole!.distribution! };
}

/** KL_t of the first decision from both whole distributions, by the definition. */
function plainKl(
  own: Float32Array,
  teacher: Float32Array,
  { teacherTop }: TrainItem,
  tokens: number,
): number[] {
  const vocabulary = own.length / tokens;
  return Array.from({ length: tokens }, (_, i) => {
    const support = teacherTop
      ? [...teacherTop.ids.subarray(i * 16, (i + 1) * 16)]
      : Array.from({ length: vocabulary }, (_, v) => v);
    const shares = (of: Float32Array) => {
      const powers = support.map((v) => Math.exp(of[i * vocabulary + v]!));
      const sum = powers.reduce((a, b) => a + b);
      return powers.map((power) => power / sum);
    };
    const q = shares(teacher);
    return shares(own).reduce((sum, p, j) => sum + p * Math.log(p / q[j]!), 0);
  });
}

test.each(SIGNALS)(
  "a step on $kind: its report by brute force, on WebGPU as in plain code; a divergence falls",
  async (signal) => {
    const cpu = await createBackend({ device: "cpu", howTo: "" });
    const { reports, items, own, teacher } = await steps(cpu, signal, 3);
    cpu.dispose();
    const [first] = reports;
    if (signal.kind !== "sampled-token") {
      const kl = plainKl(own, teacher, items[0]!, 3);
      first!.items[0]!.advantage.forEach((value, i) => {
        expect(value).toBeCloseTo(items[0]!.masked?.[i] === 1 ? 0 : -kl[i]!, 4);
      });
      const loss = first!.items.reduce(
        (sum, { advantage }, n) => sum - items[n]!.weight * advantage.reduce((a, b) => a + b, 0),
        0,
      );
      expect(first!.loss).toBeCloseTo(loss, 6);
      for (const { ratio, clipped } of first!.items) {
        expect(new Set(ratio)).toEqual(new Set([1]));
        expect(new Set(clipped)).toEqual(new Set([0]));
      }
    }
    // Eq. (9) of tokens that the student did not draw is no divergence, and need not fall.
    if (signal.kind !== "sampled-token")
      for (const n of [1, 2]) expect(reports[n]!.loss).toBeLessThan(reports[n - 1]!.loss);
    const gpu = await createBackend({ device: "webgpu", gpu: await openGpu(), howTo: "" });
    const [other] = (await steps(gpu, signal, 1)).reports;
    gpu.dispose();
    expect(Math.abs(other!.loss / first!.loss - 1)).toBeLessThan(1e-3);
    expect(Math.abs(other!.gradNorm / first!.gradNorm - 1)).toBeLessThan(1e-3);
  },
);

test("items of several kinds, and a teacher of another vocabulary, are refused and change nothing", async () => {
  const backend = await createBackend({ device: "cpu", howTo: "" });
  const trainer = await ModelTrainer.open(backend, openFolder(modelFixture("qwen3-a")), {
    optimizer: "ignore",
  });
  const items = DECISIONS.map(
    ({ promptIds, responseIds }, n): TrainItem => ({
      ...{ episode: `e${n}`, decision: 0, promptIds, responseIds, rolloutLogprobs: null },
      ...{ teacherLogprobs: responseIds.map(() => -1), weight: 0.2 },
    }),
  );
  const mixed = [{ ...items[0]!, teacherDistribution: new Float32Array(3 * 1880) }, items[1]!];
  await expect(trainer.step(mixed, SETTINGS)).rejects.toThrow(
    "not all items of the step have what the same signal compares",
  );
  const foreign = [{ ...items[0]!, teacherDistribution: new Float32Array(3 * 2000) }];
  await expect(trainer.step(foreign, SETTINGS)).rejects.toThrow(
    "6000 log-probabilities for 3 tokens over a vocabulary of 1880",
  );
  expect(trainer.steps).toBe(0);
  trainer.dispose();
  backend.dispose();
});
