import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { randomValues } from "../../../test/random.ts";
import { relativeError } from "../../../test/support/relative-error.ts";
import { expectSameResults } from "../../../test/support/same-results.ts";
import { openGpu } from "../../../test/webgpu.ts";
import type { Backend } from "../backend.ts";
import { createReferenceBackend } from "../reference/index.ts";
import type { RowSpan, Tensor } from "../tensor.ts";
import { createWebGpuBackend, type WebGpuBackend } from "./index.ts";
import { SHARED_KERNELS } from "./tuning.ts";

/** M, N, K: with and without whole vec4s, below, at and past the edges of tiles. */
const sizes = [
  [1, 1, 1],
  [1, 192, 64],
  [3, 7, 5],
  [4, 4, 4],
  [5, 9, 12],
  [2, 130, 36],
  [17, 64, 20],
  [64, 64, 16],
  [65, 31, 68],
  [150, 100, 48],
  [601, 70, 24],
  [260, 132, 40],
] as const;

describe.each(["tile", ...SHARED_KERNELS] as const)("matrix products, %s kernels", (matmul) => {
  let backend: WebGpuBackend;
  beforeAll(async () => {
    backend = await createWebGpuBackend(await openGpu(), { matmul });
  });
  afterAll(() => backend.dispose());

  test.each(sizes)("linear and both gradients of %i×%i×%i equal the reference", async (m, n, k) => {
    await expectSameResults(backend, (b) => {
      const x = b.fromArray(randomValues(m * k, 1), [m, k]);
      const w = b.fromArray(randomValues(n * k, 2), [n, k]);
      const dy = b.fromArray(randomValues(m * n, 3), [m, n]);
      const dw = b.fromArray(randomValues(n * k, 4), [n, k]);
      b.linearBackwardWeight(dw, dy, x);
      return { y: b.linear(x, w), dx: b.linearBackwardInput(dy, w), dw };
    });
  });
});

test("a head's gradient is summed block by block", async () => {
  const backend = await createWebGpuBackend(await openGpu());
  const [rows, vocabulary, width] = [3, 66_000, 4];
  await expectSameResults(backend, (b) => {
    const dw = b.fromArray(randomValues(vocabulary * width, 1), [vocabulary, width]);
    const dy = b.fromArray(randomValues(rows * vocabulary, 2), [rows, vocabulary]);
    b.linearBackwardWeight(dw, dy, b.fromArray(randomValues(rows * width, 3), [rows, width]));
    return { dw };
  });
  backend.dispose();
});

test("a weight's gradient over many rows is summed in parts, the same way every time", async () => {
  const backend = await createWebGpuBackend(await openGpu());
  const rows = 20000;
  const sum = async () => {
    const dw = backend.zeros([4, 4]);
    const dy = backend.fromArray(randomValues(rows * 4, 1), [rows, 4]);
    const x = backend.fromArray(randomValues(rows * 4, 2), [rows, 4]);
    backend.linearBackwardWeight(dw, dy, x);
    return backend.read(dw);
  };
  const first = await sum();
  expect(await sum()).toEqual(first);
  const [dy, x] = [randomValues(rows * 4, 1), randomValues(rows * 4, 2)];
  let expected = 0;
  for (let r = 0; r < rows; r++) expected += dy[r * 4 + 1]! * x[r * 4 + 2]!;
  expect(first[6]).toBeCloseTo(expected, 3);
  backend.dispose();
});

/** Whole numbers of a few bits: products of f16 operands and their f32 sums are exact. */
function wholeNumbers(count: number, seed: number): Float32Array {
  return randomValues(count, seed, 8).map(Math.round);
}

describe.each(["tile", "shared"] as const)("products of f16 operands, packed, %s kernels", (matmul) => {
  let backend: WebGpuBackend;
  beforeAll(async () => {
    backend = await createWebGpuBackend(await openGpu(), { matmul, compute: "f16", f16: "packed" });
  });
  afterAll(() => backend.dispose());

  test.each(sizes)("%i×%i×%i: exact where f16 is", async (m, n, k) => {
    await expectSameResults(
      backend,
      (b) => {
        const x = b.fromArray(wholeNumbers(m * k, 1), [m, k]);
        const w = b.fromArray(wholeNumbers(n * k, 2), [n, k]);
        const dy = b.fromArray(wholeNumbers(m * n, 3), [m, n]);
        const dw = b.fromArray(wholeNumbers(n * k, 4), [n, k]);
        b.linearBackwardWeight(dw, dy, x);
        return { y: b.linear(x, w), dx: b.linearBackwardInput(dy, w), dw };
      },
      1e-7,
    );
  });

  test("activations past f16's range and gradients below it keep 11 bits", async () => {
    await expectSameResults(
      backend,
      (b) => {
        const x = b.fromArray(
          randomValues(40 * 64, 1).map((v) => v * 3e6),
          [40, 64],
        );
        const w = b.fromArray(randomValues(32 * 64, 2), [32, 64]);
        const dy = b.fromArray(
          randomValues(40 * 32, 3).map((v) => v * 1e-9),
          [40, 32],
        );
        const dw = b.zeros([32, 64]);
        b.linearBackwardWeight(dw, dy, x);
        return { y: b.linear(x, w), dx: b.linearBackwardInput(dy, w), dw };
      },
      1e-3,
    );
  });

  test("fine columns are as with f32 operands, the others are not", async () => {
    const [m, n, k] = [40, 48, 64];
    const product = async <T extends Tensor>(b: Backend<T>, fine?: RowSpan) => {
      const x = b.fromArray(randomValues(m * k, 1), [m, k]);
      const w = b.fromArray(randomValues(n * k, 2), [n, k]);
      const y = b.linear(x, w, fine);
      const values = await b.read(y);
      b.free(x, w, y);
      return values;
    };
    const exact = await product(createReferenceBackend());
    /** Of columns `first` to `end`. */
    const error = async (fine: RowSpan | undefined, { first, end }: RowSpan) => {
      const within = (_: number, i: number) => i % n >= first && i % n < end;
      return relativeError((await product(backend, fine)).filter(within), exact.filter(within));
    };
    const [all, some, others] = [
      { first: 0, end: n },
      { first: 16, end: 36 },
      { first: 36, end: n },
    ];
    expect(await error(undefined, all)).toBeGreaterThan(1e-5);
    expect(await error(all, all)).toBeLessThan(1e-6);
    expect(await error(some, some)).toBeLessThan(1e-6);
    expect(await error(some, others)).toBeGreaterThan(1e-5);
    const [x, w] = [backend.zeros([m, k]), backend.zeros([n, k])];
    expect(() => backend.linear(x, w, { first: 40, end: 49 })).toThrow("linear: fine rows 40 to 49 of 48");
    backend.free(x, w);
  });

  test("an operand that changes in between is cast again", async () => {
    await expectSameResults(
      backend,
      (b) => {
        const x = b.fromArray(wholeNumbers(20 * 8, 1), [20, 8]);
        const w = b.fromArray(wholeNumbers(12 * 8, 2), [12, 8]);
        const before = b.linear(x, w);
        b.addInPlace(x, x);
        b.write(w, wholeNumbers(12 * 8, 5));
        return { before, after: b.linear(x, w) };
      },
      1e-7,
    );
    expect(backend.live().tensors).toBe(0);
  });
});
