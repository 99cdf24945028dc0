import { afterAll, beforeAll, expect, test } from "vitest";
import { randomValues } from "../../../test/random.ts";
import { heldObjects } from "../../../test/support/garbage.ts";
import { openGpu, openNullGpu } from "../../../test/webgpu.ts";
import { DeviceError } from "../../core/errors.ts";
import { hasRoom, noF16 } from "./device.ts";
import { createWebGpuBackend, requestDevice, type WebGpuBackend } from "./index.ts";

let gpu: GPU | null;
let backend: WebGpuBackend;
beforeAll(async () => {
  gpu = await openGpu();
  backend = await createWebGpuBackend(gpu);
});
afterAll(() => {
  backend.dispose();
  gpu = null;
});

test("no adapter: one line that says how to turn WebGPU on", async () => {
  const none = { requestAdapter: async () => null } as unknown as GPU;
  const error: Error = await createWebGpuBackend(none).then(
    () => expect.fail("a backend without an adapter"),
    (reason) => reason,
  );
  expect(error.message).toMatch(/No WebGPU adapter was found\. In a browser: .*In Node: .*CPU device\./);
  expect(error.message).not.toContain("\n");
});

test("compute f16 is refused in one line where the adapter lacks it", async () => {
  const adapter = await gpu!.requestAdapter();
  expect(adapter!.features.has("shader-f16")).toBe(false);
  await expect(createWebGpuBackend(gpu!, { compute: "f16" })).rejects.toThrow(
    /^compute f16: the adapter [^\n]* lacks shader-f16; use compute f32$/,
  );
  const nvidia = { ...backend.features, vendor: "nvidia" };
  expect(noF16("nvidia hopper", nvidia)).toMatch(
    /lacks shader-f16; on NVIDIA, [^\n]*vulkan_enable_f16_on_nvidia[^\n]*allow_unsafe_apis[^\n]*; use compute f32$/,
  );
});

test("asks a device for memory in buffers as large as it allows, and gives all back", async () => {
  expect(await hasRoom(backend.device, 2 ** 20)).toBe(true);
  const made: { size: number; destroyed: boolean }[] = [];
  const device = (most: number, has: number) =>
    ({
      limits: { maxBufferSize: most },
      pushErrorScope() {},
      popErrorScope: async () =>
        made.reduce((sum, { size }) => sum + size, 0) > has ? { message: "no memory" } : null,
      createBuffer({ size }: { size: number }) {
        const one = { size, destroyed: false };
        made.push(one);
        return {
          destroy() {
            one.destroyed = true;
          },
        };
      },
    }) as unknown as GPUDevice;
  expect(await hasRoom(device(1000, 4096), 2000)).toBe(true);
  expect(made.map(({ size }) => size)).toEqual([768, 768, 464]);
  expect(await hasRoom(device(1000, 2048), 2000)).toBe(false);
  expect(made.every(({ destroyed }) => destroyed)).toBe(true);
});

test("compute auto takes f16 where matrix units multiply it, else f32, and says why", async () => {
  const compute = await requestDevice(await openNullGpu());
  const features = { ...compute.features, subgroupSize: 32, matrices: [{ m: 16, n: 16, k: 16 }] };
  const opened = async (change: Partial<typeof compute>) => {
    const { compute: format, whyF32 } = await createWebGpuBackend(
      { ...compute, ...change },
      { compute: "auto" },
    );
    return { format, whyF32 };
  };
  const card = { software: false, features, description: "nvidia hopper" };
  expect(await opened(card)).toEqual({ format: "f16", whyF32: null });
  expect(await opened({ ...card, features: { ...features, matrices: [] } })).toEqual({
    format: "f32",
    whyF32: expect.stringMatching(
      /^the adapter shows no matrix units.*--enable-dawn-features=allow_unsafe_apis/,
    ),
  });
  expect(await opened({ ...card, software: true })).toMatchObject({ format: "f32" });
  compute.device.destroy();
});

test("the device has the adapter's limits, and a software adapter is known as one", async () => {
  const { device, software, description } = await requestDevice(gpu!);
  const adapter = await gpu!.requestAdapter();
  expect(device.limits.maxStorageBufferBindingSize).toBe(adapter!.limits.maxStorageBufferBindingSize);
  expect(device.limits.maxBufferSize).toBe(adapter!.limits.maxBufferSize);
  expect(software).toBe(/swiftshader|llvmpipe/i.test(description));
  device.destroy();
});

test("buffers are reused, and zeros are zero then too", async () => {
  const before = backend.live();
  const ones = backend.fromArray(new Float32Array(1000).fill(1), [1000]);
  const { pooled } = ones;
  expect(backend.live()).toEqual({ tensors: before.tensors + 1, bytes: before.bytes + 4000 });
  backend.free(ones, ones, null, undefined);
  const zeros = backend.zeros([10, 97]);
  expect(zeros.pooled).toBe(pooled);
  expect((await backend.read(zeros)).every((x) => x === 0)).toBe(true);
  backend.free(zeros);
  expect(backend.live()).toEqual(before);
});

test("writes from the host wait for what was encoded before them", async () => {
  const x = backend.fromArray(Float32Array.of(1, 2), [2]);
  const first = backend.add(x, x);
  backend.write(x, Float32Array.of(10, 20));
  const second = backend.add(x, x);
  // The buffer of a freed tensor is handed out while its reader is still waiting.
  const third = backend.add(x, x);
  backend.free(x);
  const other = backend.fromArray(Float32Array.of(-1, -1), [2]);
  expect([...(await backend.read(first))]).toEqual([2, 4]);
  expect([...(await backend.read(second))]).toEqual([20, 40]);
  expect([...(await backend.read(third))]).toEqual([20, 40]);
  backend.free(first, second, third, other);
});

test("more dispatches than one submission holds, each with its own parameters", async () => {
  const parts = Array.from({ length: 1300 }, (_, i) => {
    const t = backend.zeros([1]);
    backend.fill(t, i);
    return t;
  });
  const sum = backend.zeros([1]);
  for (const t of parts) backend.addInPlace(sum, t);
  expect((await backend.read(sum))[0]).toBe((1299 * 1300) / 2);
  backend.free(sum, ...parts);
});

test("a dispatch of more workgroups than one dimension allows", async () => {
  const rows = 4_200_000;
  const x = backend.fromArray(Float32Array.of(3, 5, 7, 9), [4, 1]);
  const which = new Uint32Array(rows).map((_, i) => i % 4);
  const index = backend.fromArray(which, [rows]);
  const y = backend.gatherRows(x, index);
  const values = await backend.read(y);
  expect(values.every((value, i) => value === 3 + 2 * (i % 4))).toBe(true);
  backend.free(y, x, index);
});

test("scopes free what was made in them, keep what is kept, and free all after an error", () => {
  const before = backend.live().tensors;
  const outer = backend.scope((keepOuter) => {
    const inner = backend.scope((keep) => {
      backend.zeros([100]);
      return keep(backend.zeros([2]));
    });
    expect(inner.freed).toBe(false);
    return keepOuter(backend.zeros([3]));
  });
  expect(backend.live().tensors).toBe(before + 1);
  expect(() =>
    backend.scope((keep) => {
      keep(backend.zeros([5]));
      throw new Error("stop");
    }),
  ).toThrow("stop");
  expect(backend.live().tensors).toBe(before + 1);
  backend.free(outer);
  expect(() => backend.fill(outer, 1)).toThrow("after it was freed");
  expect(() => backend.write(outer, new Float32Array(3))).toThrow("after it was freed");
});

test("a tensor larger than a buffer is refused with its size and the limit", () => {
  const limit = backend.device.limits.maxBufferSize;
  const rows = Math.floor(limit / 4096) + 1;
  expect(() => backend.zeros([rows, 1024])).toThrow(
    /A tensor f32 \[\d+, 1024\] needs \d+\.\d MiB in one buffer, but a buffer of this WebGPU device has at most \d+\.\d MiB/,
  );
});

test("an operation that fails on the device is reported where a caller waits, once", async () => {
  const t = backend.zeros([4]);
  backend.device.createBuffer({ size: 16, usage: 0x1 | 0x80 });
  await expect(backend.sync()).rejects.toThrow(/^A WebGPU operation failed: [^\n]*$/);
  await expect(backend.sync()).resolves.toBeUndefined();
  backend.free(t);
});

test("a lost device: every later call fails with one clear line", async () => {
  const own = await createWebGpuBackend(gpu!);
  const t = own.fromArray(randomValues(64, 1), [8, 8]);
  const pending = own.read(own.linear(t, t));
  own.device.destroy();
  await pending.catch(() => {});
  const message = /^The WebGPU device was lost \(destroyed: [^.]+\)\.$/;
  await expect(own.read(t)).rejects.toThrow(message);
  await expect(own.read(t)).rejects.toMatchObject({ name: "DeviceError", fault: "lost" });
  await expect(own.sync()).rejects.toThrow(message);
  expect(() => own.linear(t, t)).toThrow(message);
  expect(() => own.zeros([1])).toThrow(message);
  expect(() => own.fromArray(new Float32Array(1), [1])).toThrow(message);
  own.dispose();
  await expect(own.read(t)).rejects.toThrow("The WebGPU backend was disposed");
});

test("an operation that is refused on a lost device leaves no tensor of its own", async () => {
  const own = await createWebGpuBackend(gpu!);
  const [x, gradient] = [own.zeros([4, 8]), own.zeros([6, 8])];
  const ids = Uint32Array.of(1, 5, 1, 0);
  const rows = own.fromArray(ids, [4]);
  own.device.destroy();
  await own.device.lost;
  const before = own.live();
  for (const operation of [
    () => own.embeddingBackward(gradient, ids, x),
    () => own.linear(x, x),
    () => own.gatherRows(gradient, rows),
    () => own.add(x, x),
  ]) {
    expect(operation).toThrow("The WebGPU device was lost");
    expect(own.live()).toEqual(before);
  }
  own.dispose();
});

test.each(["given back", "lost"])("nothing holds a device that was %s, nor its backend", async (end) => {
  const use = async () => {
    const own = await createWebGpuBackend(gpu!);
    const t = own.fromArray(randomValues(64, 1), [8, 8]);
    await own.read(own.linear(t, t));
    if (end === "lost") {
      own.device.destroy();
      // Not through `rejects`, which holds the error, whose stack holds the device.
      const fault = (error: unknown) => (error instanceof DeviceError ? error.fault : error);
      expect(await own.sync().catch(fault)).toBe("lost");
    }
    own.dispose();
    await own.device.lost;
    return [new WeakRef<object>(own.device), new WeakRef<object>(own)];
  };
  const references = [...(await use()), ...(await use()), ...(await use())];
  expect(await heldObjects(references)).toBe(0);
});

test("memory that is refused to a read is told as that, once; the next read is right", async () => {
  const own = await createWebGpuBackend(gpu!);
  const t = own.fromArray(Float32Array.of(1, 2, 3, 4), [4]);
  await own.sync();
  const { createBuffer } = own.device;
  const refuse = () => {
    own.device.createBuffer = (descriptor) => {
      own.device.createBuffer = createBuffer;
      return createBuffer.call(own.device, { ...descriptor, size: own.device.limits.maxBufferSize });
    };
  };
  for (const read of [
    () => own.read(t),
    () => own.pieces.read(t, 0, 4, "f32", async () => {}),
    () => own.pieces.write(t, 0, 4, "f32", "add", async (bytes) => void bytes.fill(0)),
  ]) {
    refuse();
    await expect(read()).rejects.toMatchObject({ name: "DeviceError", fault: "memory" });
    expect([...(await own.read(t))]).toEqual([1, 2, 3, 4]);
  }
  own.dispose();
});
