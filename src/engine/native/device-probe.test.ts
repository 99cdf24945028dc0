import { afterAll, beforeAll, expect, it } from "vitest";
import { openGpu } from "../../../test/webgpu.ts";
import { type Backend, createReferenceBackend, createWebGpuBackend } from "../../tensor/index.ts";
import { probeDevice } from "./device-probe.ts";

let gpu: GPU | null;
const backends: Record<string, Backend> = {};
beforeAll(async () => {
  gpu = await openGpu();
  backends["WebGPU"] = await createWebGpuBackend(gpu, { compute: "auto" });
  backends["plain TypeScript"] = createReferenceBackend();
});
afterAll(() => {
  for (const backend of Object.values(backends)) backend.dispose();
  gpu = null;
});

it.each(["WebGPU", "plain TypeScript"])("measures %s, and leaves nothing there", async (name) => {
  const backend = backends[name]!;
  const before = backend.live();
  const { teraflops, gigabytes } = await probeDevice(backend, false);
  expect(teraflops).toBeGreaterThan(1e-6);
  expect(gigabytes).toBeGreaterThan(1e-3);
  expect(backend.live()).toEqual(before);
});

it("can be stopped, and leaves nothing there then", async () => {
  const backend = backends["plain TypeScript"]!;
  const before = backend.live();
  await expect(probeDevice(backend, false, AbortSignal.abort())).rejects.toThrow("aborted");
  expect(backend.live()).toEqual(before);
});

it("computes in f32 by itself where no matrix units are, and says why", () => {
  expect(backends["WebGPU"]).toMatchObject({ compute: "f32", whyF32: expect.stringMatching(/software/) });
});
