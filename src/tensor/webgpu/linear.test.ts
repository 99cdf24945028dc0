import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { randomValues } from "../../../test/random.ts";
import { expectSameResults } from "../../../test/support/same-results.ts";
import { openGpu } from "../../../test/webgpu.ts";
import { createWebGpuBackend, type WebGpuBackend } from "./index.ts";

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
] as const;

describe.each(["tile", "shared"] as const)("matrix products, %s kernels", (matmul) => {
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
