import { getEventListeners } from "node:events";
import { expect, it } from "vitest";
import { Pending } from "../../test/support/fake.ts";
import { untilAborted } from "./until-aborted.ts";

it("ends as the work does, and leaves nothing on the signal", async () => {
  const { signal } = new AbortController();
  expect(await untilAborted(signal, Promise.resolve(3))).toBe(3);
  await expect(untilAborted(signal, Promise.reject(new RangeError("lost")))).rejects.toThrow("lost");
  expect(getEventListeners(signal, "abort")).toEqual([]);
});

it("throws the signal's reason once it is aborted, before work that has ended; a later fault of the work is nobody's", async () => {
  const controller = new AbortController();
  const work = new Pending();
  const waiting = untilAborted(controller.signal, work.promise);
  controller.abort(new RangeError("stopped"));
  await expect(waiting).rejects.toThrow("stopped");
  work.reject(new Error("late"));
  await expect(untilAborted(controller.signal, Promise.resolve(3))).rejects.toThrow("stopped");
});
