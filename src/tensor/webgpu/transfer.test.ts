import { expect, test, vi } from "vitest";
import { openGpu } from "../../../test/webgpu.ts";
import { requestDevice, USAGE } from "./device.ts";
import { createWebGpuBackend } from "./index.ts";

test("reads share a staging buffer where one fits, and each has its own values", async () => {
  const device = await requestDevice(await openGpu());
  const create = vi.spyOn(device.device, "createBuffer");
  const b = await createWebGpuBackend(device);
  const made = () => create.mock.calls.filter(([{ usage }]) => (usage & USAGE.mapRead) !== 0).length;
  const long = b.fromArray(
    Float32Array.from({ length: 1000 }, (_, i) => i),
    [1000],
  );
  const short = b.fromArray(Float32Array.of(7, 8, 9), [3]);
  expect([...(await b.read(long)).subarray(998)]).toEqual([998, 999]);
  const before = made();
  expect((await b.read(long, { at: 10, count: 990 }))[0]).toBe(10);
  expect(made()).toBe(before);
  // At the same time each needs its own.
  const [one, other] = await Promise.all([b.read(long), b.read(short)]);
  expect([one[1], [...other]]).toEqual([1, [7, 8, 9]]);
  expect(made()).toBe(before + 1);
  b.dispose();
});
