import { afterEach, beforeEach, expect, test } from "vitest";
import { BufferCount, type FaultyDevice, openFaultyDevice } from "../../../test/soak/faulty-device.ts";
import { modelFixture } from "../../../test/support/golden.ts";
import { openGpu } from "../../../test/webgpu.ts";
import { DeviceError } from "../../core/errors.ts";
import { PAPER_SETTINGS, type TrainItem } from "../../core/ports.ts";
import { createWebGpuBackend, describePlan, type WebGpuBackend } from "../../tensor/index.ts";
import { openFolder } from "./node-folder.ts";
import { planWorkload } from "./plan.ts";
import { ModelScorer, withinPlan } from "./scorer.ts";
import { ModelTrainer } from "./trainer.ts";

const folder = openFolder(modelFixture("qwen3-a"));
const items: TrainItem[] = [0, 1].map((decision) => ({
  episode: "e",
  decision,
  promptIds: Array.from({ length: 20 }, (_, i) => 7 * i + decision),
  responseIds: [3, 4, 5],
  teacherLogprobs: [-1, -1, -1],
  rolloutLogprobs: [-2, -2, -2],
  weight: 1 / 6,
}));
const sizes = { weights: "f32" as const, longestSequence: 23, longestResponse: 3, allTokens: 46 };

let faulty: FaultyDevice;
let backend: WebGpuBackend;
beforeEach(async () => {
  faulty = await openFaultyDevice(await openGpu(), new BufferCount());
  backend = await createWebGpuBackend(faulty.compute);
});
afterEach(() => backend.dispose());

/** What `work` is refused with when the so-many-th buffer is; the driver has then been asked for none of its own. */
async function refused(buffers: number, work: () => Promise<unknown>): Promise<DeviceError> {
  faulty.refuseAfter(buffers);
  const error: unknown = await work().then(
    () => new Error("nothing was refused"),
    (reason: unknown) => reason,
  );
  faulty.calm();
  expect(error).toBeInstanceOf(DeviceError);
  expect((error as DeviceError).fault).toBe("memory");
  return error as DeviceError;
}

test.each([1, 8, 20])(
  "a teacher that does not fit leaves nothing, and tells its plan (buffer %i)",
  async (n) => {
    const passes = await planWorkload(backend, folder, { ...sizes, kind: "score" });
    const error = await refused(n, () => ModelScorer.open(backend, folder, passes));
    expect(error.message).toMatch(/^WebGPU ran out of memory with \d+ tensors of [\d.]+ MiB alive/);
    expect(error.message).toContain(`; planned: ${describePlan(passes.plan)}`);
    expect(backend.live()).toEqual({ tensors: 0, bytes: 0 });
    const scorer = await ModelScorer.open(backend, folder, passes);
    expect(await scorer.score([{ id: "a", promptIds: [1, 2], responseIds: [3] }])).toHaveLength(1);
    scorer.dispose();
    expect(backend.live()).toEqual({ tensors: 0, bytes: 0 });
  },
);

test.each([3, 40, 60])("a student that does not fit leaves nothing (buffer %i)", async (n) => {
  const passes = await planWorkload(backend, folder, { ...sizes, kind: "train" });
  const open = () => ModelTrainer.open(backend, folder, { optimizer: "ignore", ...passes });
  expect((await refused(n, open)).message).toContain("; planned: memory: about ");
  expect(backend.live()).toEqual({ tensors: 0, bytes: 0 });
});

test("a step without memory leaves what was there, and can be taken again", async () => {
  const passes = await planWorkload(backend, folder, { ...sizes, kind: "train" });
  const trainer = await ModelTrainer.open(backend, folder, { optimizer: "ignore", ...passes });
  await trainer.score([{ id: "a", promptIds: items[0]!.promptIds, responseIds: [3] }]);
  // Gradients stay once they are there.
  await trainer.backward(items, PAPER_SETTINGS);
  const live = backend.live();
  const longer = items.map((item) => ({ ...item, promptIds: [...item.promptIds, ...item.promptIds] }));
  const error = await refused(1, () => trainer.step(longer, PAPER_SETTINGS));
  expect(error.message).toContain(`; planned: ${describePlan(passes.plan)}`);
  expect(backend.live()).toEqual(live);
  expect((await trainer.step(longer, PAPER_SETTINGS)).step).toBe(1);
  trainer.dispose();
  expect(backend.live()).toEqual({ tensors: 0, bytes: 0 });
});

test("memory that is refused to a pass ends no save beside it, and neither gives what is wrong", async () => {
  const trainer = await ModelTrainer.open(backend, openFolder(modelFixture("tiny-a")), {
    optimizer: "continue",
  });
  const save = async () => {
    const files = new Map<string, Buffer>();
    const writer = {
      async write(name: string, chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>) {
        const parts: Uint8Array[] = [];
        for await (const chunk of chunks) parts.push(chunk);
        files.set(name, Buffer.concat(parts));
      },
      commit: async () => undefined,
      abort: async () => undefined,
    };
    await trainer.save(writer, { optimizer: true });
    return files;
  };
  const whole = await save();
  const promptIds = Array.from({ length: 10 }, (_, i) => i);
  const score = async () =>
    (await trainer.score([{ id: "a", promptIds, responseIds: [3, 4, 5] }])).map((one) => [...one.logprobs]);
  const beside = async (work: () => unknown) => {
    faulty.refuseAfter(1);
    work();
    const [scored, saved] = await Promise.allSettled([score(), save()]);
    expect(faulty.pending).toBe(false);
    expect(saved).toEqual({ status: "fulfilled", value: whole });
    expect(scored).toMatchObject({ status: "rejected", reason: { name: "DeviceError", fault: "memory" } });
  };
  // The pass's own first buffer, which is one that it keeps for the passes to come.
  await beside(() => undefined);
  const scores = await score();
  // One of neither of them: the save may be the first to hear of it, and the pass may have been given it.
  await beside(() => backend.free(backend.zeros([54_321])));
  expect(await score()).toEqual(scores);
  faulty.refuseAfter(1);
  backend.free(backend.zeros([65_432]));
  expect(await save()).toEqual(whole);
  trainer.dispose();
});

test("work beside which an error of the device came to light is not taken for right", async () => {
  const work = async () => {
    faulty.refuseAfter(1);
    backend.free(backend.zeros([43_210]));
    await expect(backend.sync()).rejects.toMatchObject({ fault: "memory" });
  };
  await expect(withinPlan(backend, {}, work)).rejects.toMatchObject({ name: "DeviceError", fault: "memory" });
  expect(await withinPlan(backend, {}, async () => "right")).toBe("right");
});
