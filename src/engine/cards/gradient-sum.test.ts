import { expect, it } from "vitest";
import { randomValues } from "../../../test/random.ts";
import { openGpu } from "../../../test/webgpu.ts";
import { type Backend, createReferenceBackend, createWebGpuBackend } from "../../tensor/index.ts";
import { GradientSum, type SumMessage } from "./gradient-sum.ts";
import { createSlotFile, Slots } from "./slots.ts";

const SHAPES = [[7], [33, 40], [1], [5, 3, 100], [64]];

/** Sums of N backends of this process that talk to each other. */
async function connect(cards: number, open: () => Promise<Backend> | Backend) {
  const plan = await createSlotFile(cards, { bytes: 512, perCard: 4 });
  const all: { backend: Backend; slots: Slots; sum: GradientSum }[] = [];
  for (let rank = 0; rank < cards; rank++) {
    const slots = await Slots.open(plan);
    const send = (to: number, message: SumMessage) =>
      void setTimeout(() => all[to]!.sum.receive(rank, message), (rank * 7 + to * 3) % 5);
    all.push({ backend: await open(), slots, sum: new GradientSum({ rank, cards, slots, send }) });
  }
  await Slots.unlink(plan);
  return all;
}

const close = (all: Awaited<ReturnType<typeof connect>>) =>
  Promise.all(
    all.map(async ({ backend, slots }) => {
      backend.dispose();
      await slots.close();
    }),
  );

it.each([
  [1, "cpu"],
  [2, "cpu"],
  [3, "cpu"],
  [5, "cpu"],
  [2, "webgpu"],
] as const)("%s cards on %s hold the same bits afterwards, time after time: the sum", async (cards, kind) => {
  const all = await connect(cards, async () =>
    kind === "cpu" ? createReferenceBackend() : createWebGpuBackend(await openGpu()),
  );
  for (let round = 0; round < 3; round++) {
    const values = all.map((_, rank) =>
      SHAPES.map((shape, i) =>
        randomValues(
          shape.reduce((a, b) => a * b),
          100 * round + 10 * rank + i,
        ),
      ),
    );
    const tensors = all.map(({ backend }, rank) =>
      SHAPES.map((shape, i) => backend.fromArray(values[rank]![i]!, shape)),
    );
    await Promise.all(all.map(({ backend, sum }, rank) => sum.run(backend, tensors[rank]!)));
    for (const [i] of SHAPES.entries()) {
      const sums = await Promise.all(all.map(({ backend }, rank) => backend.read(tensors[rank]![i]!)));
      for (const sum of sums) expect(sum).toEqual(sums[0]);
      sums[0]!.forEach((value, j) => {
        const exact = values.reduce((total, of) => total + of[i]![j]!, 0);
        expect(Math.abs(value - exact)).toBeLessThanOrEqual(1e-6 * cards);
      });
    }
    all.forEach(({ backend }, rank) => void backend.free(...tensors[rank]!));
    for (const { backend } of all) expect(backend.live().tensors).toBe(0);
  }
  await close(all);
});

it("ends when it is aborted although another card never comes", async () => {
  const all = await connect(2, () => createReferenceBackend());
  const { backend, sum } = all[0]!;
  const controller = new AbortController();
  const running = sum.run(backend, [backend.zeros([1000])], controller.signal);
  setTimeout(() => controller.abort(new Error("card 1 failed")), 20);
  await expect(running).rejects.toThrow("card 1 failed");
  await close(all);
});
