import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { randomValues } from "../../../test/random.ts";
import { expectSameResults } from "../../../test/support/same-results.ts";
import { openGpu, openNullGpu } from "../../../test/webgpu.ts";
import type { Backend } from "../backend.ts";
import { createReferenceBackend } from "../reference/index.ts";
import type { Tensor, WeightFormat } from "../tensor.ts";
import { packRows, WEIGHT_FORMATS } from "../weight-format.ts";
import { createWebGpuBackend, requestDevice, type WebGpuBackend } from "./index.ts";

let backend: WebGpuBackend;
beforeAll(async () => {
  // The kernels that GPUs have, on the software adapter.
  backend = await createWebGpuBackend({ ...(await requestDevice(await openGpu())), software: false });
});
afterAll(() => backend.dispose());

function weight<T extends Tensor>(b: Backend<T>, format: WeightFormat, shape: [number, number]): T {
  const values = randomValues(shape[0] * shape[1], 2);
  // Small enough to be subnormal in f16.
  values[3] = 2e-6;
  const w = b.allocateWeight(format, shape);
  const where = { file: "test", key: "w" };
  b.writeWords(w, 0, packRows(format, shape[1], "F32", new Uint8Array(values.buffer), 0, where));
  return w;
}

function products<T extends Tensor>(b: Backend<T>, format: WeightFormat, m: number, n: number, k: number) {
  const x = b.fromArray(randomValues(m * k, 1, 3), [m, k]);
  const w = weight(b, format, [n, k]);
  const other = weight(b, format, [n + 3, k]);
  const norm = { weight: b.fromArray(randomValues(k, 4), [k]), epsilon: 1e-3, offset: 1 };
  const sum = b.fromArray(randomValues(m * n, 5), [m, n]);
  b.addLinear(sum, x, w);
  return {
    y: b.linear(x, w),
    joined: b.linearJoined(x, [w, other, w]),
    joinedNormed: b.linearJoined(x, [w, other], norm),
    gated: b.linearSwiglu(x, w, w),
    gatedNormed: b.linearSwiglu(x, w, w, { ...norm, offset: 0 }),
    sum,
  };
}

describe.each(WEIGHT_FORMATS)("few rows times a weight in %s", (format) => {
  test.each([
    [1, 5, 8],
    [2, 130, 64],
    [3, 33, 160],
    [4, 70, 72],
    [2, 9, 256],
    [5, 40, 128],
    [16, 33, 64],
  ])("%i rows, %i outputs, %i inputs", (m, n, k) =>
    expectSameResults(backend, (b) => products(b, format, m, n, k)),
  );
});

test.each([
  ["f32", 17, 21, 64],
  ["f32", 33, 16, 72],
  ["f32", 64, 13, 40],
  ["int4", 40, 21, 72],
] as const)("rows in shares: a weight in %s, %i rows, %i outputs, %i inputs", (format, m, n, k) =>
  expectSameResults(backend, (b) => products(b, format, m, n, k)),
);

test("weights of several formats side by side", () =>
  expectSameResults(backend, (b) => {
    const x = b.fromArray(randomValues(2 * 64, 1), [2, 64]);
    const weights = (["f32", "int8", "f16"] as const).map((format) => weight(b, format, [10, 64]));
    const norm = { weight: b.fromArray(randomValues(64, 4), [64]), epsilon: 1e-6 };
    return { y: b.linearJoined(x, weights, norm) };
  }));

test("where products take f16 operands, a weight in f32 is read from a copy in f16", async () => {
  const packed = await createWebGpuBackend(
    { ...(await requestDevice(await openGpu())), software: false },
    { tuning: false, compute: "f16", f16: "packed" },
  );
  for (const m of [3, 17]) await expectSameResults(packed, (b) => products(b, "f32", m, 21, 64), 1e-3);
  const w = packed.fromArray(randomValues(8 * 64, 2), [8, 64]);
  packed.free(packed.linear(packed.zeros([17, 64]), w));
  expect([w.half, w.panels]).toEqual([expect.anything(), undefined]);
  packed.dispose();
});

test("rows of an embedding longer than a binding go through windows", async () => {
  const small = await createWebGpuBackend(
    { ...(await requestDevice(await openGpu())), software: false },
    { bindingLimit: 8192 },
  );
  for (const format of ["f32", "int8", "int4"] as const)
    await expectSameResults(small, (b) => {
      const x = b.fromArray(randomValues(2 * 64, 1), [2, 64]);
      const w = weight(b, format, [300, 64]);
      return { y: b.linear(x, w), joined: b.linearJoined(x, [w, w]), gated: b.linearSwiglu(x, w, w) };
    });
  small.dispose();
});

test("a recording multiplies with a weight as it is before each run, by kernels for many rows as well", async () => {
  for (const format of ["f16", "f32"] as const) {
    // For each format, the first product with it is recorded.
    const packed = await createWebGpuBackend(
      { ...(await requestDevice(await openGpu())), software: false },
      { tuning: false, compute: "f16", f16: "packed" },
    );
    const [m, n, k] = [65, 40, 64];
    const x = packed.fromArray(randomValues(m * k, 1), [m, k]);
    const w = packed.allocateWeight(format, [n, k]);
    const where = { file: "test", key: "w" };
    const fill = (values: Float32Array) =>
      packed.writeWords(w, 0, packRows(format, k, "F32", new Uint8Array(values.buffer), 0, where));
    const weights = [randomValues(n * k, 2), randomValues(n * k, 3)] as const;
    fill(weights[0]);
    const sum = packed.zeros([m, n]);
    // Rows that keep more bits go by other kernels than those for few rows.
    const recording = packed.record!(() =>
      packed.addInPlace(sum, packed.linear(x, w, { first: 0, end: 16 })),
    );
    recording.run();
    const plain = createReferenceBackend();
    const expected = async (...of: Float32Array[]) => {
      const given = plain.fromArray(randomValues(m * k, 1), [m, k]);
      const products = of.map((values) => plain.linear(given, plain.fromArray(values, [n, k])));
      return (await Promise.all(products.map((y) => plain.read(y)))).reduce((a, b) =>
        a.map((v, i) => v + b[i]!),
      );
    };
    const off = async (...of: Float32Array[]) => {
      const [found, wanted] = [await packed.read(sum), await expected(...of)];
      return Math.max(...wanted.map((value, i) => Math.abs(value - found[i]!)));
    };
    expect(await off(weights[0])).toBeLessThan(0.02);
    fill(weights[1]);
    recording.run();
    expect(await off(...weights)).toBeLessThan(0.04);
    recording.dispose();
    packed.dispose();
  }
});

test("the kernels of matrix units compile", async () => {
  // An adapter that computes nothing; `npm run bench -- decode` compares what it would compute on a card.
  const device = await requestDevice(await openNullGpu());
  const features = { ...device.features, subgroupSize: 32, matrices: [{ m: 16, n: 16, k: 16 }] };
  const none = await createWebGpuBackend({ ...device, features, software: false }, { compute: "f16" });
  none.scope(() => {
    const w = none.allocateWeight("f16", [48, 256]);
    const norm = { weight: none.zeros([256]), epsilon: 1e-6 };
    for (const rows of [5, 16, 33, 64]) {
      const x = none.zeros([rows, 256]);
      none.linear(x, w);
      none.addLinear(none.zeros([rows, 48]), x, w);
      none.linearSwiglu(x, w, w, norm);
      none.linearJoined(x, [w, w], norm);
      // Tiles of these end where the weights do.
      none.linearJoined(x, [none.zeros([64, 256]), none.zeros([128, 256]), w], norm);
    }
    // Columns that keep more bits: in registers, and for more rows by matrix units.
    for (const rows of [64, 65]) none.linear(none.zeros([rows, 256]), w, { first: 16, end: 32 });
    none.linear(none.zeros([40, 256]), none.zeros([16, 256]));
    none.linear(none.zeros([32, 256]), none.allocateWeight("f16", [4096, 256]));
    for (const format of ["bf16", "int8", "int4"] as const) {
      const stored = none.allocateWeight(format, [48, 256]);
      none.linear(none.zeros([16, 256]), stored);
      none.linearSwiglu(none.zeros([16, 256]), stored, stored);
      // Expanded for more rows only, which is when its scale is looked for.
      expect(stored.scaling).toBeUndefined();
      none.linear(none.zeros([17, 256]), stored);
      expect(stored.scaling).toBeDefined();
    }
  });
  await expect(none.sync()).resolves.toBeUndefined();
  none.dispose();
});
