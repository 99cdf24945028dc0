import { existsSync } from "node:fs";
import { expect, it } from "vitest";
import { randomValues } from "../../../test/random.ts";
import { openGpu } from "../../../test/webgpu.ts";
import {
  type Backend,
  createReferenceBackend,
  createWebGpuBackend,
  type PieceFormat,
} from "../../tensor/index.ts";
import { GradientSum, type SumMessage } from "./gradient-sum.ts";
import { createSlotFiles, Slots } from "./slots.ts";

const SHAPES = [[7], [33, 40], [1], [5, 3, 100], [64]];

/** Sums of N backends of this process that talk to each other. */
async function connect(cards: number, open: () => Promise<Backend> | Backend, format: PieceFormat = "f32") {
  const plan = await createSlotFiles(cards, { bytes: 512, perCard: 4 });
  const all: { backend: Backend; slots: Slots; sum: GradientSum }[] = [];
  for (let rank = 0; rank < cards; rank++) {
    const slots = await Slots.open(plan);
    const send = (to: number, message: SumMessage) =>
      void setTimeout(() => all[to]!.sum.receive(rank, message), (rank * 7 + to * 3) % 5);
    all.push({ backend: await open(), slots, sum: new GradientSum({ rank, cards, slots, format, send }) });
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
  [1, "cpu", "f32"],
  [2, "cpu", "f32"],
  [3, "cpu", "f32"],
  [5, "cpu", "f32"],
  [2, "webgpu", "f32"],
  [1, "cpu", "bf16"],
  [4, "cpu", "bf16"],
  [3, "webgpu", "bf16"],
] as const)(
  "%s cards on %s hold the same bits afterwards, time after time: the sum in %s",
  async (cards, kind, format) => {
    const open = async () =>
      kind === "cpu" ? createReferenceBackend() : createWebGpuBackend(await openGpu());
    const all = await connect(cards, open, format);
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
      // Tensors come in two parts, at times that differ from card to card.
      const results = await Promise.all(
        all.map(({ backend, sum }, rank) =>
          sum.run(backend, async (add) => {
            add(tensors[rank]!.slice(0, 2));
            await new Promise((resolve) => setTimeout(resolve, (rank * 5) % 7));
            add(tensors[rank]!.slice(2));
            return rank;
          }),
        ),
      );
      expect(results).toEqual(all.map((_, rank) => rank));
      for (const [i] of SHAPES.entries()) {
        const sums = await Promise.all(all.map(({ backend }, rank) => backend.read(tensors[rank]![i]!)));
        for (const sum of sums) expect(sum).toEqual(sums[0]);
        sums[0]!.forEach((value, j) => {
          const parts = values.map((of) => of[i]![j]!);
          const exact = parts.reduce((total, part) => total + part, 0);
          const sizes = parts.reduce((total, part) => total + Math.abs(part), Math.abs(exact));
          // bf16: each part and their sum are rounded once, each, by at most 2^-8 of itself.
          const rounding = format === "bf16" && cards > 1 ? 2 ** -8 * (1 + 2 ** -8) * sizes : 0;
          expect(Math.abs(value - exact)).toBeLessThanOrEqual(1e-6 * cards + rounding);
        });
      }
      all.forEach(({ backend }, rank) => void backend.free(...tensors[rank]!));
      for (const { backend } of all) expect(backend.live().tensors).toBe(0);
    }
    await close(all);
  },
);

it("ends when it is aborted although another card never comes", async () => {
  const all = await connect(2, () => createReferenceBackend());
  const { backend, sum } = all[0]!;
  const controller = new AbortController();
  const tensor = backend.zeros([1000]);
  const running = sum.run(backend, async (add) => add([tensor]), controller.signal);
  setTimeout(() => controller.abort(new Error("card 1 failed")), 20);
  await expect(running).rejects.toThrow("card 1 failed");
  await close(all);
});

it("an error of what computes ends the sum, and nothing is written to the tensors any more", async () => {
  const all = await connect(2, () => createReferenceBackend());
  const tensors = all.map(({ backend }) => backend.zeros([1000]));
  const controller = new AbortController();
  const waiting = all[1]!.sum.run(all[1]!.backend, async (add) => add([tensors[1]!]), controller.signal);
  const failing = all[0]!.sum.run(all[0]!.backend, async (add) => {
    add([tensors[0]!]);
    throw new Error("no gradient");
  });
  await expect(failing).rejects.toThrow("no gradient");
  all[0]!.backend.free(tensors[0]!);
  controller.abort(new Error("card 0 failed"));
  await expect(waiting).rejects.toThrow("card 0 failed");
  await close(all);
});

it("the files are gone from their folder when they are open", async () => {
  const plan = await createSlotFiles(2, { bytes: 512, perCard: 4 });
  const slots = await Slots.open(plan);
  await Slots.unlink(plan);
  expect(existsSync(plan.path)).toBe(false);
  await slots.write(1, 3, new Uint8Array(512).fill(7));
  const bytes = new Uint8Array(512);
  await slots.read(1, 3, bytes);
  expect(bytes).toEqual(new Uint8Array(512).fill(7));
  await expect(slots.write(2, 0, bytes)).rejects.toThrow("512 bytes for slot 0 of card 2");
  await slots.close();
});
