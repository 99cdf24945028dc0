import { expect, test, vi } from "vitest";
import { openGpu } from "../../../test/webgpu.ts";
import { requestDevice } from "./device.ts";
import { Memory } from "./memory.ts";

/** A memory with 8 KiB of slack, and the lengths, in values, of the buffers that it makes and of those that it ends. */
async function open() {
  const { device } = await requestDevice(await openGpu());
  const [made, ended]: [number[], number[]] = [[], []];
  const create = device.createBuffer.bind(device);
  vi.spyOn(device, "createBuffer").mockImplementation((descriptor) => {
    const buffer = create(descriptor);
    made.push(descriptor.size / 4);
    const destroy = buffer.destroy.bind(buffer);
    vi.spyOn(buffer, "destroy").mockImplementation(() => {
      ended.push(descriptor.size / 4);
      return destroy();
    });
    return buffer;
  });
  const room = vi.fn((coming: number) => void memory.trim(coming));
  const memory: Memory = new Memory(device, () => {}, room, 8192);
  return { device, memory, made, ended, room };
}

test("the buffers of a step are there for the next, however little is alive between them", async () => {
  const { device, memory, made, ended } = await open();
  memory.allocate([64], "f32");
  const step = () => {
    const tensors = [65_536, 32_768, 16_384].map((size) => memory.allocate([size], "f32"));
    for (const tensor of tensors) memory.free(tensor);
    memory.trim();
  };
  step();
  const before = made.length;
  step();
  expect(made).toHaveLength(before);
  expect(ended).toEqual([]);
  device.destroy();
});

test("passes of another kind do not add their buffers to idle ones, but for the slack; the oldest go", async () => {
  const { device, memory, made, ended, room } = await open();
  const weight = memory.allocate([64], "f32");
  const first = [16_384, 8192, 4096].map((size) => memory.allocate([size], "f32"));
  for (const tensor of first) memory.free(tensor);
  const sum = () => made.reduce((x, y) => x + y, 0) - ended.reduce((x, y) => x + y, 0);
  const peak = sum();
  const second = [20_480, 2048, 1024].map((size) => memory.allocate([size], "f32"));
  expect(room).toHaveBeenCalledTimes(1);
  expect(ended).toEqual([16_384, 8192]);
  expect(4 * sum()).toBeLessThanOrEqual(4 * peak + 8192);
  for (const tensor of second) memory.free(tensor);
  // Nothing is left: what was taken of late no longer counts.
  memory.free(weight);
  memory.trim();
  expect(4 * sum()).toBeLessThanOrEqual(8192);
  device.destroy();
});
