import { expect, test, vi } from "vitest";
import { openGpu } from "../../../test/webgpu.ts";
import { requestDevice } from "./device.ts";
import { Memory } from "./memory.ts";

test("idle buffers far beyond what is alive go back to the device, those released longest ago first", async () => {
  const { device } = await requestDevice(await openGpu());
  const memory = new Memory(device, () => {}, 8192);
  const made = vi.spyOn(device, "createBuffer");
  const [first, second, third] = [1024, 2048, 3072].map((size) => memory.allocate([size], "f32"));
  memory.free(first!);
  memory.free(third!);
  memory.trim();
  // 2,048 values are alive, so that 24 KiB may be idle: 16 KiB are.
  memory.allocate([1024], "f32");
  expect(made).toHaveBeenCalledTimes(3);
  memory.free(second!);
  memory.trim();
  // 4 KiB are alive and 20 KiB idle; 16 KiB may be idle, so the one of 3,072 values went.
  memory.allocate([2048], "f32");
  expect(made).toHaveBeenCalledTimes(3);
  memory.allocate([3072], "f32");
  expect(made).toHaveBeenCalledTimes(4);
  device.destroy();
});
