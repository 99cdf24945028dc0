import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { randomValues } from "../../../test/random.ts";
import { openGpu } from "../../../test/webgpu.ts";
import { encodeFloats, type FloatFormat } from "../number-format.ts";
import type { WeightFormat } from "../tensor.ts";
import { LARGEST_BF16, packRows, WEIGHT_FORMATS } from "../weight-format.ts";
import { createWebGpuBackend, type WebGpuBackend } from "./index.ts";
import type { GpuTensor } from "./memory.ts";

const where = { file: "model.safetensors", key: "w" };
const FILES = ["F32", "F16", "BF16"] as const satisfies readonly FloatFormat[];
const PAIRS = FILES.flatMap((from) => WEIGHT_FORMATS.map((to) => [from, to] as const));

describe("weights that the device brings to their format", () => {
  let backend: WebGpuBackend;
  beforeAll(async () => {
    backend = await createWebGpuBackend(await openGpu());
  });
  afterAll(() => {
    expect(backend.live()).toEqual({ tensors: 0, bytes: 0 });
    backend.dispose();
  });

  /** The words of a weight's storage. */
  async function wordsOf(t: GpuTensor): Promise<Uint32Array> {
    const { device } = backend;
    const staging = device.createBuffer({
      size: t.bytes,
      usage: GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST,
    });
    const encoder = device.createCommandEncoder();
    encoder.copyBufferToBuffer(t.buffer, 0, staging, 0, t.bytes);
    device.queue.submit([encoder.finish()]);
    await staging.mapAsync(GPUMapMode.READ);
    const words = new Uint32Array(staging.getMappedRange().slice(0));
    staging.destroy();
    return words;
  }

  /** Brings rows to the device, those from 64 on first; null where it declined them. */
  async function uploaded(to: WeightFormat, width: number, from: FloatFormat, bytes: Uint8Array) {
    const upload = backend.weightUpload!;
    const rowBytes = width * (from === "F32" ? 4 : 2);
    const t = backend.allocateWeight(to, [bytes.length / rowBytes, width]);
    for (const [row, part] of [
      [64, bytes.subarray(64 * rowBytes)],
      [0, bytes.subarray(0, 64 * rowBytes)],
    ] as const)
      if (part.length > 0) await upload.write(t, row, from, part);
    const words = (await upload.declined()) ? null : await wordsOf(t);
    backend.free(t);
    return words;
  }

  describe.each(PAIRS)("%s to %s", (from, to) => {
    test.each([
      [70, 128],
      [65, 192],
      [3, 32],
    ])("[%i, %i]: the words that the host makes", async (rows, width) => {
      const values = randomValues(rows * width, 3);
      // Groups of every size, of zeros, of one value, of powers of two and halves of them, whose quotients are ties.
      for (let i = 0; i < values.length; i++) values[i]! *= 2 ** ((Math.floor(i / 32) % 29) - 15);
      values.fill(0, 0, 32);
      values.fill(-0.75, 32, 64);
      for (let i = 64; i < 96; i++) values[i] = (i - 80) * 0.5;
      values.set([127, 0.5, -1.5, 2.5, 6e-8, -3e-8, 2e-5, 65_024, -65_024, -0], 5);
      const bytes = encodeFloats(from, values);
      expect(await uploaded(to, width, from, bytes)).toEqual(packRows(to, width, from, bytes, 0, where));
    });

    test("what is not finite is left to the host, once", async () => {
      for (const special of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]) {
        const values = randomValues(64 * 32, 5);
        values[777] = special;
        expect(await uploaded(to, 32, from, encodeFloats(from, values))).toBeNull();
      }
      expect(await backend.weightUpload!.declined()).toBe(false);
    });
  });

  test("what a format cannot hold is left to the host, and the largest that it holds is not", async () => {
    const one = (value: number) => {
      const values = new Float32Array(64 * 32);
      values[9] = value;
      return encodeFloats("F32", values);
    };
    for (const [to, held, not] of [
      ["f16", 65_519, 65_520],
      ["bf16", LARGEST_BF16, 3.39618e38],
      ["int8", 2 ** 99, 2 ** 101],
      ["int4", -(2 ** -99), 2 ** -101],
    ] as const) {
      expect(await uploaded(to, 32, "F32", one(held))).toEqual(packRows(to, 32, "F32", one(held), 0, where));
      expect(await uploaded(to, 32, "F32", one(not))).toBeNull();
    }
  });

  test("rows that do not begin where a part of a buffer may, or are no whole fours of values, are not taken", async () => {
    const takes = (to: WeightFormat, width: number, row: number, values: number) => {
      const t = backend.allocateWeight(to, [200, width]);
      const answer = backend.weightUpload!.takes(t, row, values);
      backend.free(t);
      return answer;
    };
    expect(takes("f32", 96, 2, 96)).toBe(true);
    expect(takes("f32", 96, 1, 96)).toBe(false);
    expect(takes("f32", 33, 0, 33)).toBe(false);
    expect(takes("f32", 36, 0, 36)).toBe(true);
  });
});
