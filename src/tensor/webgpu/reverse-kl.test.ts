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

test.each([
  [1, 2],
  [3, 70],
  [9, 1880],
  [2, 16_411],
])("full reverse KL of %i rows over %i tokens, and its slopes", async (rows, vocabulary) => {
  await expectSameResults(backend, (b) => {
    const logits = b.fromArray(randomValues(rows * vocabulary, 1, 5), [rows, vocabulary]);
    const teacher = b.fromArray(randomValues(rows * vocabulary, 2, 5), [rows, vocabulary]);
    const c = b.fromArray(randomValues(rows, 3), [rows]);
    return { kl: b.reverseKl(logits, teacher, c), slopes: logits };
  });
});

test.each([
  [1, 3, 2],
  [5, 64, 64],
  [9, 1880, 32],
  [2, 16_411, 7],
])("reverse KL of %i rows over %i tokens, on %i of them, and its slopes", async (rows, vocabulary, k) => {
  await expectSameResults(
    backend,
    (b) => {
      const logits = b.fromArray(randomValues(rows * vocabulary, 1, 5), [rows, vocabulary]);
      // Distinct in a row, in no order; the last token of the vocabulary is among them.
      const ids = Uint32Array.from({ length: rows * k }, (_, i) => {
        const [row, place] = [Math.floor(i / k), i % k];
        return vocabulary - 1 - ((place * Math.floor(vocabulary / k) + row) % vocabulary);
      });
      const teacher = b.fromArray(randomValues(rows * k, 2, 5), [rows, k]);
      const c = b.fromArray(randomValues(rows, 3), [rows]);
      return { kl: b.topReverseKl(logits, b.fromArray(ids, [rows, k]), teacher, c), slopes: logits };
      // Over two tokens the terms nearly cancel.
    },
    3e-5,
  );
});

test("very unequal distributions stay finite, and equal ones have no divergence", async () => {
  await expectSameResults(backend, (b) => {
    const logits = b.fromArray(Float32Array.of(1000, 0, -1000, 3, 2, 1), [2, 3]);
    const teacher = b.fromArray(Float32Array.of(-2000, 0, -50, 3, 2, 1), [2, 3]);
    return { kl: b.reverseKl(logits, teacher, b.fromArray(Float32Array.of(1, 1), [2])) };
  });
  const logits = backend.fromArray(Float32Array.of(3, 2, 1), [1, 3]);
  const kl = backend.reverseKl(
    logits,
    backend.fromArray(Float32Array.of(-3, -4, -5), [1, 3]),
    backend.zeros([1]),
  );
  expect((await backend.read(kl))[0]).toBeCloseTo(0, 6);
  expect([...(await backend.read(logits))]).toEqual([0, 0, 0]);
});

test("other shapes and ids out of range are refused", () => {
  const [logits, teacher, c] = [backend.zeros([2, 5]), backend.zeros([2, 4]), backend.zeros([2])];
  expect(() => backend.reverseKl(logits, teacher, c)).toThrow("reverseKl");
  const ids = backend.fromArray(Uint32Array.of(0, 5, 1, 2), [2, 2]);
  expect(() => backend.topReverseKl(logits, ids, backend.zeros([2, 2]), c)).toThrow(
    "topReverseKl: id 5 of 5",
  );
  const many = backend.zeros([1, 65], "u32");
  expect(() =>
    backend.topReverseKl(backend.zeros([1, 70]), many, backend.zeros([1, 65]), backend.zeros([1])),
  ).toThrow("at most 64");
});
