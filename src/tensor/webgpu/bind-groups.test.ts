import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { openGpu } from "../../../test/webgpu.ts";
import { BindGroups } from "./bind-groups.ts";
import { USAGE } from "./device.ts";
import { createWebGpuBackend, type WebGpuBackend } from "./index.ts";

let backend: WebGpuBackend;
let made = 0;
beforeAll(async () => {
  backend = await createWebGpuBackend(await openGpu());
  const { createBindGroup } = backend.device;
  backend.device.createBindGroup = (descriptor) => {
    made++;
    return createBindGroup.call(backend.device, descriptor);
  };
});
afterAll(() => backend.dispose());

/** Groups that are made while `work` runs. */
async function groupsMade(work: () => void): Promise<number> {
  made = 0;
  work();
  await backend.sync();
  return made;
}

test("the same kernel on the same buffers takes one group, whatever tensors they are", async () => {
  const [a, b] = [backend.zeros([64]), backend.zeros([64])];
  backend.fill(b, 1);
  const add = () => backend.addInPlace(a, b);
  expect(await groupsMade(add)).toBe(1);
  expect(await groupsMade(() => [1, 2, 3].forEach(add))).toBe(0);
  const sum = () => backend.free(backend.add(a, b));
  sum();
  // The pool hands out the buffer of the freed result.
  expect(await groupsMade(() => [1, 2, 3].forEach(sum))).toBe(0);
  expect((await backend.read(a))[63]).toBe(4);
  backend.free(a, b);
});

test("another length in the same buffer takes the same group, a window on it another", async () => {
  const [a, b] = [backend.zeros([128]), backend.zeros([64])];
  backend.fill(a, 1);
  const { pooled } = a;
  backend.free(a);
  const shorter = backend.zeros([120]);
  expect(shorter.pooled).toBe(pooled);
  expect(await groupsMade(() => backend.fill(shorter, 2))).toBe(0);
  expect(await groupsMade(() => backend.fill(shorter.window(64, [56]), 3))).toBe(1);
  expect(await backend.read(shorter)).toEqual(new Float32Array(120).fill(2, 0, 64).fill(3, 64));
  backend.free(shorter, b);
});

test("passes that allocate the same make groups and buffers once, in whatever order they free", async () => {
  const pass = (length: number, order: number) =>
    backend.scope(() => {
      const made = Array.from({ length: 6 }, () => backend.zeros([length]));
      for (const t of made) backend.addInPlace(t, t === made[0] ? made[1]! : made[0]!);
      const sorted = order === 0 ? made : made.toReversed();
      backend.free(...sorted.slice(order, 5));
    });
  pass(500, 0);
  const createBuffer = vi.spyOn(backend.device, "createBuffer");
  // A shorter pass takes the longer one's buffers, and their groups.
  const passes = () => {
    for (const order of [1, 0, 2, 3]) pass(500 - 40 * order, order);
  };
  expect(await groupsMade(passes)).toBe(0);
  expect(createBuffer.mock.calls.filter(([{ usage }]) => (usage & USAGE.storage) !== 0)).toEqual([]);
  createBuffer.mockRestore();
});

test("groups go with their buffers, with errors, and when there are too many", async () => {
  const tensor = (id: number) => ({ pooled: { id }, isWindow: false, offset: 0, bindingBytes: 16 });
  let count = 0;
  const make = () => ({ label: `${count++}` }) as GPUBindGroup;
  const groups = new BindGroups(2);
  const first = groups.get("rw", [tensor(1), tensor(2)], make);
  expect(groups.get("rw", [tensor(1), tensor(2)], make)).toBe(first);
  expect(groups.get("ww", [tensor(1), tensor(2)], make)).not.toBe(first);
  groups.forget(new Set([3]));
  expect(groups.size).toBe(2);
  groups.get("r", [tensor(4)], make);
  expect(groups.size).toBe(2);
  expect(groups.get("rw", [tensor(1), tensor(2)], make)).not.toBe(first);
  groups.forget(new Set([2]));
  expect(groups.size).toBe(1);
  groups.clear();
  expect(groups.size).toBe(0);

  const t = backend.zeros([4]);
  backend.fill(t, 1);
  backend.device.createBuffer({ size: 16, usage: 0x1 | 0x80 });
  await expect(backend.sync()).rejects.toThrow("A WebGPU operation failed");
  expect(await groupsMade(() => backend.fill(t, 1))).toBe(1);
  backend.free(t);
});
