import { afterAll, beforeAll, expect, test } from "vitest";
import { randomValues } from "../../../test/random.ts";
import { expectSameResults } from "../../../test/support/same-results.ts";
import { openGpu } from "../../../test/webgpu.ts";
import { createWebGpuBackend, type WebGpuBackend } from "./index.ts";

let backend: WebGpuBackend;
beforeAll(async () => {
  backend = await createWebGpuBackend(await openGpu());
});
afterAll(() => backend.dispose());

// The last two take several blocks of the vocabulary, the very last a block narrower than `top`.
test.each([
  [1, 5, 4, 5],
  [3, 70, 12, 0],
  [9, 1880, 16, 20],
  [4, 16_700, 4, 64],
  [2, 16_390, 4, 32],
])(
  "entropy and most probable of %i rows over %i tokens, width %i, top %i",
  async (rows, vocabulary, width, top) => {
    await expectSameResults(backend, (b) => {
      const h = b.fromArray(randomValues(rows * width, 1, 3), [rows, width]);
      const w = b.fromArray(randomValues(vocabulary * width, 2, 3), [vocabulary, width]);
      const { lse } = b.headLogprobs(h, w, b.fromArray(new Uint32Array(rows), [rows]));
      return b.headDistribution(h, w, lse, top);
    });
  },
);

test("among equally probable tokens the lower id comes first", async () => {
  await expectSameResults(backend, (b) => {
    const h = b.fromArray(Float32Array.of(1, 1, 0, 0), [2, 2]);
    // Logits 1 or 0 in the first row, 0 everywhere in the second.
    const w = b.fromArray(
      Float32Array.from({ length: 2 * 300 }, (_, i) => (i % 14 === 6 ? 1 : 0)),
      [300, 2],
    );
    const { lse } = b.headLogprobs(h, w, b.fromArray(new Uint32Array(2), [2]));
    return b.headDistribution(h, w, lse, 50);
  });
});

test("more than there are tokens, or than 64, is refused", () => {
  const [h, w, lse] = [backend.zeros([1, 4]), backend.zeros([70, 4]), backend.zeros([1])];
  expect(() => backend.headDistribution(h, w, lse, 65)).toThrow("65 most probable tokens of 70; at most 64");
  expect(() => backend.headDistribution(h, w, lse, 1.5)).toThrow("headDistribution");
  expect(() => backend.headDistribution(h, backend.zeros([7, 4]), lse, 8)).toThrow(
    "8 most probable tokens of 7",
  );
});
