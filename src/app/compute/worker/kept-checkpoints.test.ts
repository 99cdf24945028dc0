import { expect, it } from "vitest";
import { CHECKPOINT_FORMAT } from "../../../core/loop/index.ts";
import { KeptCheckpoints } from "./kept-checkpoints.ts";

const state = (step: number) =>
  ({
    format: CHECKPOINT_FORMAT,
    step,
    position: { stage: 0, epoch: 0, batch: step },
    fingerprint: {},
  }) as const;

it("keeps the newest whole checkpoint in memory, and says once that nothing else keeps it", async () => {
  const refusals: string[] = [];
  // There is no IndexedDB here, as in a browser that keeps nothing.
  const store = new KeptCheckpoints(
    "page-000000000000",
    (reason) => refusals.push(reason),
    () => undefined,
  );
  expect(await store.latest()).toBeNull();
  const write = (value: number, fails = false) =>
    store.save(state(value), async (writer) => {
      await writer.write("model", [Uint8Array.of(value)]);
      if (fails) throw new Error("the device was lost");
      await writer.commit();
    });
  await write(1);
  await write(2);
  await expect(write(3, true)).rejects.toThrow("the device was lost");
  const kept = await store.latest();
  expect(kept!.state.step).toBe(2);
  expect([...(await kept!.folder.read("model", 0, 1))]).toEqual([2]);
  expect(refusals).toHaveLength(1);
});
