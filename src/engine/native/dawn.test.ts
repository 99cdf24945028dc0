import { afterEach, expect, test, vi } from "vitest";
import { openGpu } from "../../../test/webgpu.ts";

afterEach(() => vi.restoreAllMocks());

test("what is not Dawn's runs at once, with its arguments, and can be cleared", async () => {
  await openGpu();
  const rest = vi.spyOn(Atomics, "wait");
  const cleared = vi.fn();
  clearImmediate(setImmediate(cleared));
  expect(await new Promise((done) => setImmediate((...all) => done(all), 1, "two"))).toEqual([1, "two"]);
  expect(cleared).not.toHaveBeenCalled();
  expect(rest).not.toHaveBeenCalled();
});

test("Dawn rests between its looks at the GPU", async () => {
  const gpu = await openGpu();
  const rest = vi.spyOn(Atomics, "wait");
  const device = await (await gpu.requestAdapter())!.requestDevice();
  const buffer = device.createBuffer({ size: 1 << 20, usage: 0x0001 | 0x0008 });
  await buffer.mapAsync(0x0001);
  expect(rest).toHaveBeenCalled();
  device.destroy();
});
