import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { randomValues } from "../../../test/random.ts";
import { expectSameResults } from "../../../test/support/same-results.ts";
import { openGpu } from "../../../test/webgpu.ts";
import type { Backend } from "../backend.ts";
import type { Tensor, WeightFormat } from "../tensor.ts";
import { packValues, WEIGHT_FORMATS } from "../weight-format.ts";
import { createWebGpuBackend, type WebGpuBackend } from "./index.ts";

function weight<T extends Tensor>(b: Backend<T>, format: WeightFormat, shape: [number, number]): T {
  const w = b.allocateWeight(format, shape);
  // One value that f16 holds as a subnormal, one near its largest.
  const values = randomValues(shape[0] * shape[1], 7);
  values[1] = 3e-7;
  values[2] = -60_000;
  b.writeWords(w, 0, packValues(format, shape[1], values));
  return w;
}

/** Rows and width: whole vec4s and groups or not, and an odd number of values. */
const sizes = [
  [7, 5],
  [33, 36],
  [40, 64],
  [12, 200],
  [1000, 128],
] as const;

describe.each([undefined, 65_536])(
  "weights of every format, bindings of at most %s bytes",
  (bindingLimit) => {
    let backend: WebGpuBackend;
    beforeAll(async () => {
      backend = await createWebGpuBackend(await openGpu(), { bindingLimit });
    });
    afterAll(() => backend.dispose());

    describe.each(WEIGHT_FORMATS)("%s", (format) => {
      test.each(sizes)("[%i, %i]: products, rows and head equal the reference", async (n, k) => {
        await expectSameResults(backend, (b) => {
          const w = weight(b, format, [n, k]);
          const x = b.fromArray(randomValues(3 * k, 1), [3, k]);
          const dy = b.fromArray(randomValues(3 * n, 3), [3, n]);
          const ids = b.fromArray(Uint32Array.of(n - 1, 0, 3, 3), [4]);
          const targets = b.fromArray(Uint32Array.of(2, n - 1, 0), [3]);
          // Logits of a size that models have, but for the entry that is large.
          const h = b.fromArray(randomValues(3 * k, 4).fill(0, 2, 3), [3, k]);
          const c = b.fromArray(randomValues(3, 5), [3]);
          const { logprobs, lse } = b.headLogprobs(h, w, targets);
          return {
            y: b.linear(x, w),
            dx: b.linearBackwardInput(dy, w),
            rows: b.embedding(w, ids),
            logprobs,
            lse,
            dh: b.headBackward(null, h, w, targets, lse, c),
          };
        });
      });
    });

    test("a weight reads back as the values that it stands for, whole or in part", async () => {
      for (const format of WEIGHT_FORMATS) {
        const w = weight(backend, format, [33, 36]);
        const all = await backend.read(w);
        const words = packValues(format, 36, all.slice());
        expect(await backend.read(w, { at: 40, count: 100 })).toEqual(all.slice(40, 140));
        if (format !== "int4") {
          // Packing what was read changes nothing.
          const again = backend.allocateWeight(format, [33, 36]);
          backend.writeWords(again, 0, words);
          expect(await backend.read(again)).toEqual(all);
          backend.free(again);
        }
        backend.free(w);
      }
      expect(backend.live()).toEqual({ tensors: 0, bytes: 0 });
    });
  },
);

describe("frozen weights straight to f16", () => {
  const formats = ["bf16", "int8", "int4"] as const;
  let backend: WebGpuBackend;
  beforeAll(async () => {
    backend = await createWebGpuBackend(await openGpu(), { compute: "f16", f16: "packed" });
  });
  afterAll(() => backend.dispose());

  /** Values of one size, so that f16's few exponents are none of the errors. */
  function plain<T extends Tensor>(b: Backend<T>, format: WeightFormat, n: number, k: number, size = 1): T {
    const w = b.allocateWeight(format, [n, k]);
    b.writeWords(w, 0, packValues(format, k, randomValues(n * k, 7, size)));
    return w;
  }

  describe.each(formats)("%s", (format) => {
    test.each([
      [8, 8, 1],
      [36, 64, 1e-7],
      [120, 200, 1e6],
      // Products along these rows have no whole vec4: they go through f32.
      [33, 40, 1],
    ])("[%i, %i] of size %d: products and head equal the reference within f16", async (n, k, size) => {
      await expectSameResults(
        backend,
        (b) => {
          const w = plain(b, format, n, k, size);
          const x = b.fromArray(randomValues(20 * k, 1), [20, k]);
          const one = b.fromArray(randomValues(k, 2), [1, k]);
          const dy = b.fromArray(randomValues(20 * n, 3), [20, n]);
          return {
            y: b.linear(x, w),
            again: b.linear(x, w),
            one: b.linear(one, w),
            dx: b.linearBackwardInput(dy, w),
          };
        },
        2e-3,
      );
    });

    test("no f32 copy is made, the scale is found once, and again after a write", async () => {
      const w = plain(backend, format, 64, 64);
      const x = backend.fromArray(randomValues(20 * 64, 1), [20, 64]);
      backend.free(backend.linear(x, w));
      const copies = () => [w.half, w.panels];
      expect(copies()).toEqual([undefined, undefined]);
      const { scale, version } = w.scaling!;
      const peak = Math.max(...(await backend.read(w)).map(Math.abs));
      expect(Math.log2((await backend.read(scale))[0]!)).toBe(Math.floor(Math.log2(peak)) - 14);
      backend.free(backend.linear(x, w));
      expect(w.scaling).toEqual({ scale, version });
      backend.writeWords(w, 0, packValues(format, 64, randomValues(64 * 64, 8, 1000)));
      const large = backend.linear(x, w);
      expect(w.scaling!.version).toBeGreaterThan(version);
      expect((await backend.read(large)).every(Number.isFinite)).toBe(true);
      backend.free(large, w, x);
      expect(scale.freed).toBe(true);
      expect(backend.live()).toEqual({ tensors: 0, bytes: 0 });
    });
  });
});

test("a frozen weight is refused where it cannot be used", async () => {
  const backend = await createWebGpuBackend(await openGpu());
  const w = weight(backend, "int8", [8, 16]);
  const f32 = backend.zeros([8, 16]);
  expect(() => backend.add(w, f32)).toThrow("f32 tensors of one shape");
  expect(() => backend.fill(w, 0)).toThrow("f32");
  expect(() => backend.write(w, new Float32Array(128))).toThrow("do not fit int8[8,16]");
  expect(() => backend.reshape(w, [128])).toThrow();
  expect(() => backend.writeWords(w, 35, new Uint32Array(6))).toThrow("6 words at 35");
  backend.dispose();
});
