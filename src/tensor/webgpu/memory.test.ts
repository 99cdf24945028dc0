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
  const memory: Memory = new Memory(device, () => {}, room, [8192, 8192]);
  return { device, memory, made, ended, room };
}

/** Takes tensors of so many values, and lets them go. */
function pass(memory: Memory, sizes: number[]): void {
  memory.scope(() => {
    for (const size of sizes) memory.allocate([size], "f32");
  });
}

test("the buffers of a step are there for the next, however little is alive between them", async () => {
  const { device, memory, made, ended } = await open();
  memory.allocate([64], "f32");
  const step = () => {
    pass(memory, [65_536, 32_768, 16_384]);
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
  pass(memory, [16_384, 8192, 4096]);
  const sum = () => made.reduce((x, y) => x + y, 0) - ended.reduce((x, y) => x + y, 0);
  const peak = sum();
  pass(memory, [20_480, 2048, 1024]);
  expect(room).toHaveBeenCalledTimes(1);
  expect(ended).toEqual([16_384, 8192]);
  expect(4 * sum()).toBeLessThanOrEqual(4 * peak + 8192);
  // Nothing is left: what was taken of late no longer counts.
  memory.free(weight);
  memory.trim();
  expect(4 * sum()).toBeLessThanOrEqual(8192);
  device.destroy();
});

test("a closed model's buffers go back to the device, though something else is alive", async () => {
  const { device, memory, ended } = await open();
  memory.allocate([32_768], "f32");
  const weights = [65_536, 65_536, 32_768].map((size) => memory.allocate([size], "f32"));
  for (const weight of weights) memory.free(weight);
  memory.trim();
  expect(ended.toSorted()).toEqual([32_768, 65_536, 65_536]);
  device.destroy();
});

test("phases of one step that share no buffers keep theirs, as far as the slack goes", async () => {
  const { device } = await requestDevice(await openGpu());
  const made = vi.spyOn(device, "createBuffer");
  const memory: Memory = new Memory(
    device,
    () => {},
    (coming) => void memory.trim(coming),
    [2 ** 18, 2 ** 21],
  );
  memory.allocate([64], "f32");
  const step = () => {
    pass(memory, new Array(16).fill(2 ** 14));
    pass(memory, new Array(2).fill(2 ** 16));
    memory.trim();
  };
  step();
  const count = made.mock.calls.length;
  step();
  expect(made).toHaveBeenCalledTimes(count);
  device.destroy();
});
