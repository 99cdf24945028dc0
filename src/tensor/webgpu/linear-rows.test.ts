import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { randomValues } from "../../../test/random.ts";
import { expectSameResults } from "../../../test/support/same-results.ts";
import { openGpu, openNullGpu } from "../../../test/webgpu.ts";
import { createReferenceBackend } from "../reference/index.ts";
import { packRows } from "../weight-format.ts";
import { createWebGpuBackend, requestDevice, type WebGpuBackend } from "./index.ts";

let backend: WebGpuBackend;
beforeAll(async () => {
  // The kernels that GPUs have, on the software adapter.
  backend = await createWebGpuBackend({ ...(await requestDevice(await openGpu())), software: false });
});
afterAll(() => backend.dispose());

describe.each(["f32", "f16", "bf16"] as const)("few rows times a weight in %s", (format) => {
  test.each([
    [1, 5, 8],
    [2, 130, 64],
    [3, 33, 160],
    [4, 70, 72],
    [5, 40, 128],
    [16, 33, 64],
  ])("%i rows, %i outputs, %i inputs", async (m, n, k) => {
    await expectSameResults(backend, (b) => {
      const x = b.fromArray(randomValues(m * k, 1, 3), [m, k]);
      const values = randomValues(n * k, 2);
      // Small enough to be subnormal in f16.
      values[3] = 2e-6;
      const w = b.allocateWeight(format, [n, k]);
      const where = { file: "test", key: "w" };
      b.writeWords(w, 0, packRows(format, k, "F32", new Uint8Array(values.buffer), 0, where));
      const [one, two] = b.linearEach(x, [w, w]) as [typeof x, typeof x];
      return { y: b.linear(x, w), one, two, gated: b.linearSwiglu(x, w, w) };
    });
  });
});

test("rows of an embedding longer than a binding go through windows", async () => {
  const small = await createWebGpuBackend(
    { ...(await requestDevice(await openGpu())), software: false },
    { bindingLimit: 4096 },
  );
  await expectSameResults(small, (b) => {
    const x = b.fromArray(randomValues(2 * 64, 1), [2, 64]);
    const w = b.fromArray(randomValues(100 * 64, 2), [100, 64]);
    return { y: b.linear(x, w) };
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
    const [m, n, k] = [17, 40, 64];
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
    for (const rows of [5, 16, 33, 64]) none.linear(none.zeros([rows, 256]), w);
    // Columns that keep more bits: in registers, and for more rows by matrix units.
    for (const rows of [16, 17]) none.linear(none.zeros([rows, 256]), w, { first: 16, end: 32 });
    none.linear(none.zeros([40, 256]), none.zeros([16, 256]));
    none.linear(none.zeros([32, 256]), none.allocateWeight("f16", [4096, 256]));
  });
  await expect(none.sync()).resolves.toBeUndefined();
  none.dispose();
});
