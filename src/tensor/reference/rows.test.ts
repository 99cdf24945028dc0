import { expect, test } from "vitest";
import { expectGradient } from "../../../test/finite-difference.ts";
import { randomValues } from "../../../test/random.ts";
import { createReferenceBackend } from "./index.ts";

test("embedding and its gradient, with a token that occurs twice", async () => {
  const backend = createReferenceBackend();
  const ids = Uint32Array.of(2, 0, 2, 4);
  const table = backend.fromArray(randomValues(15, 1), [5, 3]);
  const index = backend.fromArray(ids, [4]);
  const slope = randomValues(12, 2);
  const gradient = backend.zeros([5, 3]);
  backend.embeddingBackward(gradient, ids, backend.fromArray(slope, [4, 3]));
  await expectGradient(backend, table, () => backend.embedding(table, index), slope, gradient);
  expect(() => backend.embedding(table, backend.fromArray(Uint32Array.of(5), [1]))).toThrow("row 5 of 5");
});

test("gather, scatter and copy rows", async () => {
  const backend = createReferenceBackend();
  const x = backend.fromArray(Float32Array.of(1, 2, 3, 4, 5, 6), [3, 2]);
  const rows = backend.fromArray(Uint32Array.of(2, 0), [2]);
  const picked = backend.gatherRows(x, rows);
  expect([...(await backend.read(picked))]).toEqual([5, 6, 1, 2]);
  expect([...(await backend.read(backend.scatterRows(picked, rows, 4)))]).toEqual([1, 2, 0, 0, 5, 6, 0, 0]);
  const cache = backend.zeros([4, 2]);
  backend.copyRows(cache, 1, picked);
  expect([...(await backend.read(cache))]).toEqual([0, 0, 5, 6, 1, 2, 0, 0]);
  expect(() => backend.copyRows(cache, 3, picked)).toThrow("copyRows at 3");
});
